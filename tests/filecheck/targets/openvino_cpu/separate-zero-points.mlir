// RUN: moir-opt %s -p separate-zero-points | filecheck %s

// Filters with a zero point; not filters without, nor data with a zero point, nor data that are not quantized.
// CHECK-LABEL: moir.model @zero_points
// CHECK:         %[[Q:.*]] = opset1.FakeQuantize(%x, %low, %high, %low, %high)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK-NEXT:    opset1.ConvolutionBackpropData(%[[M]], %w)
// CHECK:         opset1.ConvolutionBackpropData(%[[Q]], %v)
// CHECK:         %[[Z:.*]] = opset1.FakeQuantize(%x, %lower, %high, %lower, %high)
// CHECK-NEXT:    opset1.ConvolutionBackpropData(%[[Z]], %w)
// CHECK:         opset1.ConvolutionBackpropData(%x, %w)
builtin.module {
  moir.model @zero_points {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %lower = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.55]>} : tensor<f32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xui8>, [140, 139, 139, 140]>} : tensor<2x2x1x1xui8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1x1xf32>
    %z = opset1.Constant() {value = #moir.data<tensor<f32>, [139.0]>} : tensor<f32>
    %d = opset1.Subtract(%f, %z) : tensor<2x2x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%d, %s) : tensor<2x2x1x1xf32>
    %v = opset1.Multiply(%f, %s) : tensor<2x2x1x1xf32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x2x3x3xf32>
    %0 = opset1.ConvolutionBackpropData(%q, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], output_padding = [0, 0]} : tensor<1x2x3x3xf32>
    %1 = opset1.ConvolutionBackpropData(%q, %v) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], output_padding = [0, 0]} : tensor<1x2x3x3xf32>
    %r = opset1.FakeQuantize(%x, %lower, %high, %lower, %high) {levels = 256} : tensor<1x2x3x3xf32>
    %2 = opset1.ConvolutionBackpropData(%r, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], output_padding = [0, 0]} : tensor<1x2x3x3xf32>
    %3 = opset1.ConvolutionBackpropData(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], output_padding = [0, 0]} : tensor<1x2x3x3xf32>
    opset1.Result(%0) {name = "a"}
    opset1.Result(%1) {name = "b"}
    opset1.Result(%2) {name = "c"}
    opset1.Result(%3) {name = "d"}
  }
}
