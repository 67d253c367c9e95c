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
