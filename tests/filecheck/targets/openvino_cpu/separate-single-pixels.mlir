// RUN: moir-opt %s -p separate-single-pixels --split-input-file | filecheck %s

// Slopes of channels behind a bias, and limits of channels after that; one identity separates both from the convolution.
// CHECK-LABEL: moir.model @pixel
// CHECK:         %[[B:.*]] = opset1.Add
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[B]]) : tensor<?x2x1x1xf32>
// CHECK:         %[[P:.*]] = opset1.PRelu(%[[M]], %slopes)
// CHECK:         opset1.FakeQuantize(%[[P]], %low, %high, %low, %high)
builtin.module {
  moir.model @pixel {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %s = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, 2.0]>} : tensor<1x2x1x1xf32>
    %slopes = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.5, 0.25]>} : tensor<2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [-2.0, -1.0]>} : tensor<1x2x1x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [2.0, 1.0]>} : tensor<1x2x1x1xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %last = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %first, %last, %first, %last) {levels = 256} : tensor<?x2x1x1xf32>
    %1 = opset1.Convert(%w) {destination_type = f32} : tensor<2x2x1x1xf32>
    %2 = opset1.Multiply(%1, %s) : tensor<2x2x1x1xf32>
    %3 = opset1.Convolution(%0, %2) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x2x1x1xf32>
    %4 = opset1.Add(%3, %b) : tensor<?x2x1x1xf32>
    %5 = opset1.PRelu(%4, %slopes) : tensor<?x2x1x1xf32>
    %6 = opset1.FakeQuantize(%5, %low, %high, %low, %high) {levels = 256} : tensor<?x2x1x1xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// Two pixels, one slope, and filters of floats are right as they are.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:     opset1.Maximum
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x1x2xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x2x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %f = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xf32>, [1.0, 0.0, 0.0, 1.0]>} : tensor<2x2x1x1xf32>
    %slopes = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.5, 0.25]>} : tensor<2xf32>
    %slope = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.5]>} : tensor<1xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %last = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %first, %last, %first, %last) {levels = 256} : tensor<?x2x1x2xf32>
    %1 = opset1.FakeQuantize(%z, %first, %last, %first, %last) {levels = 256} : tensor<?x2x1x1xf32>
    %2 = opset1.Convert(%w) {destination_type = f32} : tensor<2x2x1x1xf32>
    %3 = opset1.Convolution(%0, %2) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x2x1x2xf32>
    %4 = opset1.PRelu(%3, %slopes) : tensor<?x2x1x2xf32>
    %5 = opset1.Convolution(%1, %2) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x2x1x1xf32>
    %6 = opset1.PRelu(%5, %slope) : tensor<?x2x1x1xf32>
    %7 = opset1.Convolution(%1, %f) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x2x1x1xf32>
    %8 = opset1.PRelu(%7, %slopes) : tensor<?x2x1x1xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%6) {name = "v"}
    opset1.Result(%8) {name = "u"}
  }
}
