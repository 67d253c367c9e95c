// RUN: moir-opt %s -p lower-tflite --split-input-file | filecheck %s

// Constants stay integers, results are rounded, and the rounding is the activation where it limits more than that.
// CHECK-LABEL: @convolution
moir.model @convolution {
  %x = opset1.Parameter() {name = "x"} : tensor<1x4x4x1xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xsi8>, [64, -128]>} : tensor<2x1x1x1xsi8>
  // CHECK: [[W:%[0-9]+]] = opset1.Convert({{.*}}) {destination_type = f32} : tensor<2x1x1x1xf32>
  // CHECK: opset1.Multiply([[W]]
  %wn = tflite.dequantize(%w) {element = si8, scale = #moir.data<tensor<2xf32>, [0.5, 0.25]>, zero_point = 0, axis = 0} : tensor<2x1x1x1xf32>
  // CHECK: opset1.Convolution
  // CHECK-NOT: opset1.Relu
  %y = tflite.CONV_2D(%x, %wn) {padding = "VALID", stride_h = 1, stride_w = 1, fused_activation_function = "RELU", name = "y"} : tensor<1x4x4x2xf32>
  // CHECK: opset1.FakeQuantize
  // CHECK-SAME: levels = 256
  %r = tflite.fake_quantize(%y) {element = si8, scale = 0.1, zero_point = -128} : tensor<1x4x4x2xf32>
  opset1.Result(%r) {name = "r"}
}

// -----

// Numbers that are rounded already are rounded to integers once.
// CHECK-LABEL: @output
moir.model @output {
  %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
  %r = tflite.fake_quantize(%x) {element = si8, scale = 0.1, zero_point = 3} : tensor<4xf32>
  // CHECK: opset1.FakeQuantize(%x
  // CHECK: [[Q:%[0-9]+]] = opset1.FakeQuantize(%x
  // CHECK-NEXT: opset1.Convert([[Q]]) {destination_type = si8
  %q = tflite.quantize(%r) {element = si8, scale = 0.1, zero_point = 3} : tensor<4xsi8>
  opset1.Result(%q) {name = "q"}
}

// -----

// A bias is the numbers that it stands for; activations of 16 bits are limited.
// CHECK-LABEL: @others
moir.model @others {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %b = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [100, -300]>} : tensor<2xsi32>
  // CHECK: #moir.data<tensor<2xf32>, [1.0, -6.0]>
  %bn = tflite.dequantize(%b) {element = si32, scale = #moir.data<tensor<2xf32>, [0.01, 0.02]>, zero_point = 0, axis = 0} : tensor<2xf32>
  %y = tflite.ADD(%x, %bn) {fused_activation_function = "RELU6"} : tensor<2xf32>
  // CHECK: opset1.Clamp({{.*}}) {min = 0.0, max = 6.0}
  // CHECK: opset1.Clamp
  %r = tflite.fake_quantize(%y) {element = si16, scale = 0.001, zero_point = 0} : tensor<2xf32>
  opset1.Result(%r) {name = "r"}
}
