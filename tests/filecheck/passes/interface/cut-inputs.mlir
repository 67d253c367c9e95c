// RUN: moir-opt %s -p 'cut-inputs{inputs="0:act[?,8]","z"}' --split-input-file | filecheck %s

// The input port alone gets a new input; what is before it and not needed is erased; the inputs are in that order.
// CHECK-LABEL: moir.model @port
// CHECK-NEXT:    %[[N:.*]] = opset1.Parameter() {name = "act/placeholder_port_0", tensor_names = ["0:act,act"]} : tensor<?x8xf32>
// CHECK-NEXT:    %[[Z:.*]] = opset1.Parameter() {name = "z", tensor_names = ["z"]} : tensor<1x8xf32>
// CHECK-NEXT:    %[[A:.*]] = onnx.Relu(%[[N]]) {name = "act", tensor_names = ["a"]}
// CHECK-NEXT:    %[[S:.*]] = onnx.Add(%[[A]], %[[Z]])
// CHECK-NEXT:    opset1.Result(%[[S]]) {name = "y"}
// CHECK-NEXT:  }
builtin.module {
  moir.model @port {
    %z = opset1.Parameter() {name = "z", tensor_names = ["z"]} : tensor<1x8xf32>
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xf32>
    %1 = onnx.Mystery(%x) {name = "first", tensor_names = ["m"]} : tensor<*x!moir.dynamic>
    %2 = onnx.Relu(%1) {name = "act", tensor_names = ["a"]} : tensor<*x!moir.dynamic>
    %3 = onnx.Add(%2, %z) {name = "add", tensor_names = ["y"]} : tensor<*x!moir.dynamic>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A tensor of the name of its node, as in TensorFlow: the new input does not take its name.
// CHECK-LABEL: moir.model @tensorflow
// CHECK:           opset1.Parameter() {name = "act/placeholder_port_0", tensor_names = ["0:act"]} : tensor<?x8xsi32>
// CHECK:           tf.Relu(%{{.*}}) {name = "act", tensor_names = ["act,act:0"]}
builtin.module {
  moir.model @tensorflow {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xsi32>
    %z = opset1.Parameter() {name = "z", tensor_names = ["z"]} : tensor<1x8xsi32>
    %1 = tf.Relu(%x) {name = "act", tensor_names = ["act,act:0"]} : tensor<*x!moir.dynamic>
    %2 = tf.AddV2(%1, %z) {name = "add", tensor_names = ["add,add:0"]} : tensor<*x!moir.dynamic>
    opset1.Result(%2) {name = "add"}
  }
}

// -----

// Operations of operation sets are inferred anew.
// CHECK-LABEL: moir.model @operations
// CHECK:           %[[A:.*]] = opset1.Relu(%{{.*}}) {name = "act"} : tensor<?x8xf32>
// CHECK-NEXT:      %[[S:.*]] = opset1.Add(%[[A]], %{{.*}}) {name = "add"} : tensor<?x8xf32>
builtin.module {
  moir.model @operations {
    %x = opset1.Parameter() {name = "x"} : tensor<1x8xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x8xf32>
    %1 = opset1.Exp(%x) {name = "first"} : tensor<1x8xf32>
    %2 = opset1.Relu(%1) {name = "act"} : tensor<1x8xf32>
    %3 = opset1.Add(%2, %z) {name = "add"} : tensor<1x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}
