// RUN: moir-opt %s -p store-signed-weights,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @product
// CHECK:           %{{.*}} = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [-128, 0, 127, 2]>} : tensor<2x2xsi8>
// CHECK:           opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK:           opset1.MatMul
builtin.module {
  moir.model @product {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xui8>, [0, 128, 255, 130]>} : tensor<2x2xui8>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [130.0]>} : tensor<f32>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2xf32>
    %2 = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %3 = opset1.Subtract(%2, %zero) : tensor<2x2xf32>
    %4 = opset1.Multiply(%3, %scale) : tensor<2x2xf32>
    %5 = opset1.MatMul(%1, %4) {transpose_b = true} : tensor<3x2xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Weights of a product of floating-point numbers are compressed: the plugin wants them as they are.
// CHECK-LABEL: moir.model @compressed
// CHECK:           tensor<2x2xui8>
builtin.module {
  moir.model @compressed {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xui8>, [0, 128, 255, 130]>} : tensor<2x2xui8>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [130.0]>} : tensor<f32>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %2 = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %3 = opset1.Subtract(%2, %zero) : tensor<2x2xf32>
    %4 = opset1.Multiply(%3, %scale) : tensor<2x2xf32>
    %5 = opset1.MatMul(%x, %4) {transpose_b = true} : tensor<3x2xf32>
    opset1.Result(%5) {name = "y"}
  }
}
