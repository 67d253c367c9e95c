// RUN: moir-opt %s -p 'set-batch{size=4}' | filecheck %s

// The first dimension of each input but scalars; the names of the others stay.
// CHECK-LABEL: moir.model @batch
// CHECK-NEXT:    opset1.Parameter() {name = "x", dimension_names = ["", "length"]} : tensor<4x?xf32>
// CHECK-NEXT:    opset1.Parameter() {name = "z"} : tensor<4x8xf32>
// CHECK-NEXT:    opset1.Parameter() {name = "s"} : tensor<f32>
// CHECK-NEXT:    onnx.Sum(%{{.*}}) : tensor<?x?xf32>
builtin.module {
  moir.model @batch {
    %x = opset1.Parameter() {name = "x", dimension_names = ["n", "length"]} : tensor<?x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x8xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<f32>
    %1 = onnx.Sum(%x, %z, %s) : tensor<1x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}
