// RUN: moir-opt %s | moir-opt | filecheck %s

builtin.module {
  moir.model @properties {
    %x = opset1.Parameter() : tensor<1x3x8x8xf32>
    // A property with its default value is left out.
    // CHECK: opset8.Softmax(%x) : tensor<1x3x8x8xf32>
    %0 = opset8.Softmax(%x) {axis = 1} : tensor<1x3x8x8xf32>
    // CHECK: opset8.Softmax(%x) {axis = -2} : tensor<1x3x8x8xf32>
    %1 = opset8.Softmax(%x) {axis = -2} : tensor<1x3x8x8xf32>
    // Integers are taken for floats, inf and nan are floats.
    // CHECK: opset1.Clamp(%x) {min = -inf, max = 6.0} : tensor<1x3x8x8xf32>
    %2 = opset1.Clamp(%x) {min = -inf, max = 6} : tensor<1x3x8x8xf32>
    // CHECK: opset1.Elu(%x) {alpha = nan} : tensor<1x3x8x8xf32>
    %3 = opset1.Elu(%x) {alpha = nan} : tensor<1x3x8x8xf32>
    // CHECK: opset1.Elu(%x) {alpha = 1.0e-20} : tensor<1x3x8x8xf32>
    %4 = opset1.Elu(%x) {alpha = 1.0e-20} : tensor<1x3x8x8xf32>
    // Element types, lists and strings.
    // CHECK: opset1.Convert(%x) {destination_type = f16} : tensor<1x3x8x8xf16>
    %5 = opset1.Convert(%x) {destination_type = f16} : tensor<1x3x8x8xf16>
    // CHECK: opset1.MaxPool(%x) {rounding_type = "ceil", strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2]} : tensor<1x3x4x4xf32>
    %6 = opset1.MaxPool(%x) {strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2], rounding_type = "ceil"} : tensor<1x3x4x4xf32>
    // What has nothing to do with the computation.
    // CHECK: opset1.Relu(%x) {name = "a/b:0", runtime_info = {fused = {version = "0"}}} : tensor<1x3x8x8xf32>
    %7 = opset1.Relu(%x) {name = "a/b:0", runtime_info = {fused = {version = "0"}}} : tensor<1x3x8x8xf32>
  }
}
