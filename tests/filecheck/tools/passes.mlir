// RUN: moir-opt %s -p fuse-swish,eliminate-dead | filecheck %s
// RUN: moir-opt %s --passes 'fuse-swish, eliminate-dead' | filecheck %s
// RUN: moir-opt %s --pass-pipeline='builtin.module(fuse-swish,eliminate-dead)' | filecheck %s
// RUN: moir-opt %s -p 'fold-constants{static-shape=true}' | filecheck %s --check-prefix=OPTION

builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %g = opset1.Sigmoid(%x) : tensor<2x4xf32>
    %y = opset1.Multiply(%x, %g) {name = "y"} : tensor<2x4xf32>
    %s = opset3.ShapeOf(%x) {name = "s"} : tensor<2xsi64>
    opset1.Result(%y) {name = "r"}
    opset1.Result(%s) {name = "t"}
  }
}

// CHECK-NOT: Sigmoid
// CHECK: opset4.Swish(%x) {name = "y"} : tensor<2x4xf32>
// OPTION: opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 4]>, name = "s"}
