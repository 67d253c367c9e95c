// RUN: moir-opt %s | moir-opt | filecheck %s
// RUN: moir-opt %s --print-op-generic | moir-opt | filecheck %s

builtin.module {
  moir.model @nodes {
    %x = opset1.Parameter() : tensor<1x3xf32>
    %none = moir.none
    // CHECK: %a = onnx.LeakyRelu(%x) {alpha = 0.1, name = "act"} : tensor<*x!moir.dynamic>
    %a = onnx.LeakyRelu(%x) {alpha = 0.1, name = "act"} : tensor<*x!moir.dynamic>
    // A kind of another domain, and one with marks in its name.
    // CHECK: onnx.com.microsoft.QGemm(%a, %none) {trans = 1, modes = ["a", "b"]} : tensor<1x3xf32>
    %b = onnx.com.microsoft.QGemm(%a, %none) {trans = 1, modes = ["a", "b"]} : tensor<1x3xf32>
    // CHECK: onnx.my$2dKind(%b) <{name = "a property"}> {name = "the node"}
    onnx.my$2dKind(%b) <{name = "a property"}> {name = "the node"}
    // Any framework, any attribute, any type.
    // CHECK: tf.Anything() {f = 1.0, g = [1.0, 2.0], i = 3, t = f32, v = #moir.data<tensor<1xui8>, [1]>} : tensor<f32>, tensor<*xf32>
    %c, %d = tf.Anything() {f = 1.0, g = [1.0, 2.0], i = 3, t = f32, v = #moir.data<tensor<1xui8>, [1]>} : tensor<f32>, tensor<*xf32>
    // A node with a graph.
    // CHECK: caffe.Body(%d) ({
    // CHECK-NEXT: tflite.Node
    // CHECK: }) : tensor<f32>
    %e = caffe.Body(%d) ({
      %f = tflite.Node() : tensor<f32>
      opset1.Result(%f)
    }) : tensor<f32>
  }
}
