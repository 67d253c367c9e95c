// Errors name the nodes of the framework from which an operation comes.
// RUN: not moir-opt %s --split-input-file 2>&1 | filecheck %s --check-prefix=VERIFY
// RUN: not moir-opt %s --split-input-file --disable-verify -p check-types 2>&1 | filecheck %s --check-prefix=EMIT

// VERIFY: opset8.Softmax 'two' (from onnx.Softmax 'a', onnx.Mul 'b', onnx.Mul 'c', … 4 in all): Expected 1 operand, but got 2
moir.model @m {
  %x = opset1.Parameter() : tensor<2xf32>
  %y = opset8.Softmax(%x, %x) {name = "two"} : tensor<2xf32> loc(fused["a"("onnx.Softmax"), fused["b"("onnx.Mul"), "c"("onnx.Mul"), "b"("onnx.Mul")], "net.py":1:2])
}
// -----
// EMIT: :14:3: opset1.Abs 'y' (from tf.Abs 'z'): the element type of result 0 is unknown
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %y = opset1.Abs(%x) {name = "y"} : tensor<2x!moir.dynamic> loc("z"("tf.Abs"))
  opset1.Result(%y) {name = "r"}
}
