// RUN: moir-opt %s -p 'cut-outputs{outputs="c","0:last"}' --split-input-file | filecheck %s

// Tensors become the outputs, in the given order; what they do not need is erased, with the inputs that nothing needs.
// CHECK-LABEL: moir.model @tensors
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {name = "x", tensor_names = ["x"]}
// CHECK-NEXT:    %[[A:.*]] = onnx.Relu(%[[X]]) {name = "first", tensor_names = ["a,0:last"]}
// CHECK-NEXT:    %[[B:.*]], %[[C:.*]] = onnx.Split(%[[A]]) {name = "split", tensor_names = ["b", "c"]}
// CHECK-NEXT:    opset1.Result(%[[C]]) {name = "c"}
// CHECK-NEXT:    opset1.Result(%[[A]]) {name = "0:last"}
// CHECK-NEXT:  }
builtin.module {
  moir.model @tensors {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xf32>
    %z = opset1.Parameter() {name = "z", tensor_names = ["z"]} : tensor<1x8xf32>
    %1 = onnx.Relu(%x) {name = "first", tensor_names = ["a"]} : tensor<*x!moir.dynamic>
    %2, %3 = onnx.Split(%1) {name = "split", tensor_names = ["b", "c"]} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    %4 = onnx.Mystery(%1, %2, %z) {name = "last", tensor_names = ["y"]} : tensor<*x!moir.dynamic>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// An output of the model has precedence over a node of its name; an input can be an output, and keeps its names.
// CHECK-LABEL: moir.model @operations
// CHECK:           %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:           %[[A:.*]] = opset1.Relu(%{{.*}}) {name = "last", tensor_names = ["a"]} : tensor<1x8xf32>
// CHECK-NEXT:      opset1.Result(%[[A]]) {name = "c"}
// CHECK-NEXT:      opset1.Result(%[[X]]) {name = "0:last"}
builtin.module {
  moir.model @operations {
    %x = opset1.Parameter() {name = "x"} : tensor<1x8xf32>
    %1 = opset1.Relu(%x) {name = "last", tensor_names = ["a"]} : tensor<1x8xf32>
    %2 = opset1.Exp(%1) {name = "c"} : tensor<1x8xf32>
    opset1.Result(%1) {name = "c"}
    opset1.Result(%2) {name = "y"}
  }
}
