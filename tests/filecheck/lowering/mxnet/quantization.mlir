// RUN: moir-opt %s -p lower-mxnet --split-input-file | filecheck %s

// What quantized operations hand to each other is real, rounded as the integers are.
// CHECK-LABEL: @real
moir.model @real {
  %x = opset1.Parameter() {name = "x"} : tensor<1x2x4x4xf32>
  // CHECK: opset1.FakeQuantize
  // CHECK-SAME: levels = 256
  %q, %low, %high = mxnet._contrib_quantize_v2(%x) {min_calib_range = -0.8, max_calib_range = 0.9, out_type = "int8", name = "q"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  // CHECK: opset14.MaxPool
  %p, %l, %h = mxnet._contrib_quantized_pooling(%q, %low, %high) {kernel = [2, 2], pool_type = "max", name = "p"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  // CHECK-NOT: Convert
  // CHECK: opset1.Result
  %y = mxnet._contrib_dequantize(%p, %l, %h) {name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// Any other user gets integers.
// CHECK-LABEL: @integers
moir.model @integers {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  // CHECK: opset5.Round
  // CHECK: opset1.Clamp
  // CHECK: opset1.Convert
  // CHECK-SAME: destination_type = ui8
  %q, %low, %high = mxnet._contrib_quantize_v2(%x) {min_calib_range = 0.0, max_calib_range = 0.9, out_type = "auto", name = "q"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  opset1.Result(%q) {name = "y"}
}
