// RUN: moir-opt %s --extensions %S/.. -p fuse-logistic,eliminate-dead | filecheck %s

// CHECK-NOT: Exp
// CHECK: opset1.Sigmoid(%x) {name = "y"} : tensor<2x4xf32>
// CHECK-NOT: Divide

moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %n = opset1.Negative(%x) : tensor<2x4xf32>
  %e = opset1.Exp(%n) : tensor<2x4xf32>
  %s = opset1.Add(%e, %one) : tensor<2x4xf32>
  %y = opset1.Divide(%one, %s) {name = "y"} : tensor<2x4xf32>
  opset1.Result(%y) {name = "r"}
}
