// RUN: moir-opt %s -p gather-known-lengths --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @vector
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 2]>} : tensor<3xsi64>
// CHECK:           %t = opset8.Gather(%s, %0, {{.*}}) : tensor<3xsi64>
builtin.module {
  moir.model @vector {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<?xsi64>
    %three = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %t = opset1.Reshape(%s, %three) {special_zero = false} : tensor<3xsi64>
    %y = opset1.Reshape(%x, %t) {special_zero = false} : tensor<?x?x?xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @unknown_rank
// CHECK:           %1 = opset1.Reshape(%s, {{.*}}) {special_zero = false} : tensor<?xsi64>
// CHECK:           opset8.Gather(%1, {{.*}}) : tensor<2xsi64>
builtin.module {
  moir.model @unknown_rank {
    %s = opset1.Parameter() {name = "s"} : tensor<*xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %t = opset1.Reshape(%s, %two) {special_zero = false} : tensor<2xsi64>
    opset1.Result(%t) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @others
// CHECK-NOT:       opset8.Gather
builtin.module {
  moir.model @others {
    %s = opset1.Parameter() {name = "s"} : tensor<2xsi64>
    %f = opset1.Parameter() {name = "f"} : tensor<?xf32>
    %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %a = opset1.Reshape(%s, %two) {special_zero = false} : tensor<2xsi64>
    %b = opset1.Reshape(%f, %two) {special_zero = false} : tensor<2xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
  }
}
