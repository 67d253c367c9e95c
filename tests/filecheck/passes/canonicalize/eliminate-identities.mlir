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

// -----

// A Select of a constant condition, and the sum of one element.
// CHECK-LABEL: moir.model @decided
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {name = "x"
// CHECK-NEXT:    opset1.Result(%[[X]])
builtin.module {
  moir.model @decided {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %n = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7FC00000]>} : tensor<f32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.Select(%c, %x, %n) : tensor<?x4xf32>
    %2 = opset1.Unsqueeze(%1, %one) : tensor<?x1x4xf32>
    %3 = opset1.ReduceSum(%2, %one) {keep_dims = true} : tensor<?x1x4xf32>
    %4 = opset1.Reshape(%3, %one) {special_zero = false} : tensor<1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Norms of one element are not the element, and a condition that broadcasts adds dimensions.
// CHECK-LABEL: moir.model @undecided
// CHECK:           opset4.ReduceL1
// CHECK:           opset1.Select
builtin.module {
  moir.model @undecided {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xi1>, [true, true]>} : tensor<2x1xi1>
    %n = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %1 = opset1.Unsqueeze(%x, %zero) : tensor<1x4xf32>
    %2 = opset4.ReduceL1(%1, %zero) {keep_dims = true} : tensor<1x4xf32>
    %3 = opset1.Select(%c, %x, %n) : tensor<2x4xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// The value that is not chosen may still be broadcast to a larger shape.
// CHECK-LABEL: moir.model @broadcast_by_the_other
// CHECK:           opset1.Select
// CHECK:           opset1.Select
builtin.module {
  moir.model @broadcast_by_the_other {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %o = opset1.Parameter() {name = "o"} : tensor<1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %1 = opset1.Select(%c, %x, %n) : tensor<?xf32>
    %2 = opset1.Select(%c, %o, %n) : tensor<?xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}
