// RUN: moir-opt %s -p "fold-constants,eliminate-dead" | filecheck %s

// A vector that is multiplied becomes numbers; the weights of a product stay integers.
// CHECK-LABEL: moir.model @vectors
// CHECK:           %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, -0.5]>}
// CHECK:           opset1.Multiply(%x, %[[C]])
// CHECK:           %[[W:.*]] = opset1.Convert(
// CHECK:           opset1.Multiply(%[[W]]
// CHECK:           opset1.Convolution
builtin.module {
  moir.model @vectors {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xsi8>, [3, 0]>} : tensor<2xsi8>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %axes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 3]>} : tensor<3xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xsi8>, [3, 4]>} : tensor<1x2x1x1xsi8>
    %1 = opset1.Convert(%c) {destination_type = f32} : tensor<2xf32>
    %2 = opset1.Subtract(%1, %zero) : tensor<2xf32>
    %3 = opset1.Multiply(%2, %scale) : tensor<2xf32>
    %4 = opset1.Unsqueeze(%3, %axes) : tensor<1x2x1x1xf32>
    %5 = opset1.Multiply(%x, %4) : tensor<1x2x3x3xf32>
    %6 = opset1.Convert(%w) {destination_type = f32} : tensor<1x2x1x1xf32>
    %7 = opset1.Multiply(%6, %scale) : tensor<1x2x1x1xf32>
    %8 = opset1.Convolution(%5, %7) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x3x3xf32>
    opset1.Result(%8) {name = "y"}
  }
}
