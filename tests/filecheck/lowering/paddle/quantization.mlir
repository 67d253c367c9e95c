// RUN: moir-opt %s -p lower-paddle --split-input-file | filecheck %s

// Weights that are integers, stored as floats, are i8.
// CHECK-LABEL: @weights
moir.model @weights {
  %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, -2.0, 127.0, 4.0]>} : tensor<2x2xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.27, 2.54]>} : tensor<2xf32>
  // CHECK: opset1.Constant() {value = #moir.data<tensor<2x2xsi8>
  // CHECK: opset1.Convert
  // CHECK: opset1.Multiply
  %d = paddle.dequantize_linear(%w, %s) {quant_axis = 0, bit_length = 8, name = "d"} : tensor<*x!moir.dynamic>
  %y = paddle.matmul_v2(%x, %d) {name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @data
moir.model @data {
  %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.27]>} : tensor<1xf32>
  // CHECK: opset1.FakeQuantize
  // CHECK-SAME: levels = 256
  %q = paddle.quantize_linear(%x, %s) {quant_axis = -1, bit_length = 8, name = "q"} : tensor<*x!moir.dynamic>
  %y = paddle.dequantize_linear(%q, %s) {quant_axis = -1, bit_length = 8, name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
