// RUN: moir-opt %s -p "simplify-broadcast,eliminate-dead" --split-input-file | filecheck %s

// An addition broadcasts by itself.
// CHECK-LABEL: moir.model @dropped
// CHECK-NOT:     Broadcast
// CHECK:           opset1.Add(%[[X:.*]], %[[Y:.*]])
builtin.module {
  moir.model @dropped {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x4x3xf32>
    %s = opset3.ShapeOf(%y) : tensor<3xsi64>
    %1 = opset3.Broadcast(%x, %s) {mode = "bidirectional"} : tensor<?x4x3xf32>
    %2 = opset1.Add(%1, %y) : tensor<?x4x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A Broadcast to the shape of something else stays.
// CHECK-LABEL: moir.model @kept
// CHECK:           Broadcast
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x4x3xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x4x3xf32>
    %s = opset3.ShapeOf(%z) : tensor<3xsi64>
    %1 = opset3.Broadcast(%x, %s) {mode = "bidirectional"} : tensor<?x4x3xf32>
    %2 = opset1.Add(%1, %y) : tensor<?x4x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The name of what is broadcast does not move to what is not.
// CHECK-LABEL: moir.model @names
// CHECK:           opset1.Parameter() {name = "x", tensor_names = ["x"]}
// CHECK:           opset1.Add(%{{.*}}, %{{.*}}) {name = "add", tensor_names = ["sum"]}
// CHECK-NOT:     wide
builtin.module {
  moir.model @names {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<3xf32>
    %y = opset1.Parameter() {name = "y", tensor_names = ["y"]} : tensor<?x3xf32>
    %s = opset3.ShapeOf(%y) : tensor<2xsi64>
    %1 = opset3.Broadcast(%x, %s) {mode = "bidirectional", name = "broadcast", tensor_names = ["wide"]} : tensor<?x3xf32>
    %2 = opset1.Add(%1, %y) {name = "add", tensor_names = ["sum"]} : tensor<?x3xf32>
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// Ones in a shape, by which something is multiplied, as TensorFlow's `ones_like`.
// CHECK-LABEL: moir.model @ones
// CHECK:           %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:           %[[S:.*]] = opset1.Parameter() {name = "s"}
// CHECK-NEXT:      opset3.Broadcast(%[[X]], %[[S]]) {mode = "bidirectional", name = "product"}
builtin.module {
  moir.model @ones {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<3xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset3.Broadcast(%one, %s) : tensor<?x?x?xf32>
    %2 = opset1.Multiply(%1, %x) {name = "product"} : tensor<?x?x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Truth in the shape of scores, as Keras makes masks: nothing is left of it.
// CHECK-LABEL: moir.model @truth
// CHECK-NOT:     Broadcast
// CHECK-NOT:     LogicalAnd
// CHECK:           opset1.Select(%{{.*}}, %{{.*}}, %{{.*}})
builtin.module {
  moir.model @truth {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<1x4xi1>
    %true = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %1 = opset3.Broadcast(%true, %s) : tensor<?x4xi1>
    %2 = opset1.LogicalAnd(%1, %m) : tensor<?x4xi1>
    %3 = opset1.Select(%2, %x, %low) : tensor<?x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Dividing ones is not what the ones are divided by.
// CHECK-LABEL: moir.model @divided
// CHECK:           opset1.Divide
builtin.module {
  moir.model @divided {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<3xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset3.Broadcast(%one, %s) : tensor<?x?x?xf32>
    %2 = opset1.Divide(%1, %x) {name = "quotient"} : tensor<?x?x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A target that is the shape of the data already, as in norms of JAX.
// CHECK-LABEL: moir.model @same
// CHECK-NEXT:      %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:      %[[R:.*]] = opset1.Sqrt(%[[X]])
// CHECK:           opset1.Result(%[[R]])
builtin.module {
  moir.model @same {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 1]>} : tensor<3xsi64>
    %1 = opset3.Broadcast(%x, %s) {mode = "bidirectional"} : tensor<?x2x1xf32>
    %2 = opset1.Sqrt(%1) : tensor<?x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A result whose Broadcast is removed keeps its name.
// CHECK-LABEL: moir.model @named
// CHECK:           %[[R:.*]] = opset1.Relu(%x) {name = "b", tensor_names = ["y"]}
// CHECK-NEXT:      opset1.Result(%[[R]])
builtin.module {
  moir.model @named {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 1]>} : tensor<3xsi64>
    %1 = opset1.Relu(%x) : tensor<?x2x1xf32>
    %2 = opset3.Broadcast(%1, %s) {mode = "bidirectional", name = "b", tensor_names = ["y"]} : tensor<?x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The other operand has the sizes already, beside an unknown batch: the norm of a layer of JAX whose scale is 1.
// CHECK-LABEL: moir.model @beside
// CHECK:           %[[R:.*]] = opset1.Sqrt(%m)
// CHECK-NEXT:      opset1.Multiply(%x, %[[R]])
builtin.module {
  moir.model @beside {
    %x = opset1.Parameter() {name = "x"} : tensor<?x5x16xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x5x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 5, 16]>} : tensor<3xsi64>
    %1 = opset1.Sqrt(%m) : tensor<?x5x1xf32>
    %2 = opset3.Broadcast(%1, %s) {mode = "bidirectional"} : tensor<?x5x16xf32>
    %3 = opset1.Multiply(%x, %2) : tensor<?x5x16xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A size that no operand has.
// CHECK-LABEL: moir.model @larger
// CHECK:           %[[B:.*]] = opset3.Broadcast(%m
// CHECK:           opset1.Multiply(%x, %[[B]])
builtin.module {
  moir.model @larger {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x16xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<?x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 5, 16]>} : tensor<3xsi64>
    %2 = opset3.Broadcast(%m, %s) {mode = "bidirectional"} : tensor<?x5x16xf32>
    %3 = opset1.Multiply(%x, %2) : tensor<?x5x16xf32>
    opset1.Result(%3) {name = "y"}
  }
}
