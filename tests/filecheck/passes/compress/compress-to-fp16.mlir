// RUN: moir-opt %s -p compress-to-fp16 | filecheck %s

// A weight is stored in half precision after a Convert the runtime knows as a decompression; one that overflows is kept.
// CHECK-LABEL: moir.model @weights
// CHECK:         %[[H:.*]] = opset1.Constant() {value = #moir.data<tensor<2xf16>, [1.0, 2.5]>, name = "w_compressed"}
// CHECK-NEXT:    %[[W:.*]] = opset1.Convert(%[[H]]) {destination_type = f32, {{.*}}runtime_info = {{.*}}decompression
// CHECK:         opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 100000.0]>, name = "large"}
// CHECK:         opset1.Multiply(%{{.*}}, %[[W]])
builtin.module {
  moir.model @weights {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.5]>, name = "w"} : tensor<2xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 100000.0]>, name = "large"} : tensor<2xf32>
    %m = opset1.Multiply(%x, %w) : tensor<2xf32>
    %n = opset1.Multiply(%m, %l) : tensor<2xf32>
    opset1.Result(%n) {name = "y"}
  }

  // The scale of weights that are stored as integers stays as it is: the runtime would not recognise the form.
  // CHECK-LABEL: moir.model @quantized
  // CHECK:         %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.5, 0.25]>, name = "scale"}
  // CHECK:         opset1.Multiply(%{{.*}}, %[[S]])
  moir.model @quantized {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x2xui8>, [1, 2, 3, 4]>} : tensor<2x2xui8>
    %z = opset1.Constant() {value = #moir.data<tensor<1x2xui8>, [1, 2]>} : tensor<1x2xui8>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.5, 0.25]>, name = "scale"} : tensor<1x2xf32>
    %0 = opset1.Convert(%c) {destination_type = f32} : tensor<2x2xf32>
    %1 = opset1.Convert(%z) {destination_type = f32} : tensor<1x2xf32>
    %2 = opset1.Subtract(%0, %1) : tensor<2x2xf32>
    %3 = opset1.Multiply(%2, %s) : tensor<2x2xf32>
    %4 = opset1.MatMul(%x, %3) : tensor<1x2xf32>
    opset1.Result(%4) {name = "y"}
  }
}
