// RUN: moir-opt %s -p "eliminate-identities,eliminate-dead" --split-input-file | filecheck %s

// The names of what is removed go to the operand.
// CHECK-LABEL: moir.model @removed
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {name = "x"
// CHECK-NEXT:    %[[R:.*]] = opset1.Relu(%[[X]]) {name = "relu", tensor_names = ["t"]}
// CHECK-NEXT:    opset1.Result(%[[R]])
builtin.module {
  moir.model @removed {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 2]>} : tensor<3xsi64>
    %r = opset1.Relu(%x) {name = "relu"} : tensor<?x3x4xf32>
    %1 = opset1.Transpose(%r, %o) {name = "transpose", tensor_names = ["t"]} : tensor<?x3x4xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, -1, 4]>} : tensor<3xsi64>
    %2 = opset1.Reshape(%1, %t) {special_zero = true} : tensor<?x3x4xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1x4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<1x4xf32>
    %3 = opset1.Multiply(%one, %2) : tensor<?x3x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A constant that broadcasts is no neutral one, and two dimensions of a Reshape may change places.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Multiply
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1x4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<1x4xf32>
    %1 = opset1.Multiply(%x, %one) : tensor<?x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x?xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<2xsi64>
    %2 = opset1.Reshape(%z, %s) {special_zero = false} : tensor<?x?xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "w"}
  }
}
