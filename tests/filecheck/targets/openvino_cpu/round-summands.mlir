// RUN: moir-opt %s -p round-summands --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @residual
// CHECK:           %[[C:.*]] = opset1.Convolution(%x, %w)
// CHECK:           %[[B:.*]] = opset1.Add(%[[C]], %bias)
// CHECK:           %[[ONE:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>}
// CHECK:           %[[P:.*]] = opset1.PRelu(%[[B]], %[[ONE]])
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize(%[[P]], %low, %high, %low, %high)
// CHECK:           opset1.Add(%[[Q]], %x)
builtin.module {
  moir.model @residual {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3x4x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x3x1x1xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x3x1x1xf32>, [1.0, 2.0, 3.0]>} : tensor<1x3x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x3x4x4xf32>
    %2 = opset1.Add(%1, %bias) : tensor<1x3x4x4xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    %4 = opset1.Add(%3, %x) : tensor<1x3x4x4xf32>
    %5 = opset1.Relu(%4) : tensor<1x3x4x4xf32>
    %6 = opset1.FakeQuantize(%5, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// The plugin rounds a summand that another operation reads, one of a sum that is not rounded, and one that is no convolution.

// CHECK-LABEL: moir.model @other
// CHECK-NOT:       opset1.PRelu
builtin.module {
  moir.model @other {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3x4x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x3x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x3x4x4xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    %3 = opset1.Add(%2, %x) : tensor<1x3x4x4xf32>
    %4 = opset1.FakeQuantize(%3, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    %5 = opset1.Convolution(%2, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x3x4x4xf32>
    %6 = opset1.FakeQuantize(%5, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    %7 = opset1.Add(%6, %4) : tensor<1x3x4x4xf32>
    %8 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    %9 = opset1.Add(%8, %7) : tensor<1x3x4x4xf32>
    %10 = opset1.FakeQuantize(%9, %low, %high, %low, %high) {levels = 256} : tensor<1x3x4x4xf32>
    opset1.Result(%10) {name = "y"}
    opset1.Result(%7) {name = "z"}
  }
}
