// RUN: moir-opt %s -p 'set-input-types{inputs="x{u8}","","d{i64}"}' | filecheck %s

// The model computes in the type that it was made for; an unknown type becomes the given one.
// CHECK-LABEL: moir.model @types
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xui8>
// CHECK-NEXT:    %[[C:.*]] = opset1.Convert(%[[X]]) {destination_type = f32, name = "x/convert"} : tensor<1x8xf32>
// CHECK-NEXT:    opset1.Parameter() {name = "z"} : tensor<1x8xf32>
// CHECK-NEXT:    opset1.Parameter() {name = "d"} : tensor<*xsi64>
// CHECK-NEXT:    onnx.Relu(%[[C]])
builtin.module {
  moir.model @types {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x8xf32>
    %d = opset1.Parameter() {name = "d"} : tensor<*x!moir.dynamic>
    %1 = onnx.Relu(%x) : tensor<1x8xf32>
    %2 = onnx.Sum(%1, %z, %d) : tensor<*x!moir.dynamic>
    opset1.Result(%2) {name = "y"}
  }
}
