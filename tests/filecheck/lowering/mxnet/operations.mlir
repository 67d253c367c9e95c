// RUN: moir-opt %s -p lower-mxnet --split-input-file | filecheck %s

// CHECK-LABEL: @arithmetic
moir.model @arithmetic {
  %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
  // CHECK: opset1.Subtract(%{{[0-9]+}}, %x)
  %a = mxnet._rminus_scalar(%x) {scalar = 1.0, name = "a"} : tensor<*x!moir.dynamic>
  // CHECK: opset1.FloorMod
  %b = mxnet.broadcast_mod(%a, %x) {name = "b"} : tensor<*x!moir.dynamic>
  // CHECK: opset1.Greater
  // CHECK-NEXT: opset1.Convert
  // CHECK-SAME: destination_type = f32
  %c = mxnet._greater_scalar(%b) {scalar = 0, name = "c"} : tensor<*x!moir.dynamic>
  opset1.Result(%c) {name = "y"}
}

// -----

// CHECK-LABEL: @channels_last
moir.model @channels_last {
  %x = opset1.Parameter() {name = "x"} : tensor<1x5x6x2xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x2xf32>, [1.0, 2.0]>} : tensor<1x1x1x2xf32>
  // CHECK-COUNT-2: opset1.Transpose
  // CHECK: opset1.Convolution
  // CHECK: opset1.Transpose
  // CHECK-SAME: tensor<1x5x6x1xf32>
  %y = mxnet.Convolution(%x, %w) {kernel = [1, 1], num_filter = 1, no_bias = true, layout = "NHWC", name = "conv"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @codes_of_reshape
moir.model @codes_of_reshape {
  %x = opset1.Parameter() {name = "x"} : tensor<2x4x6x5xf32>
  // CHECK: tensor<8x30xf32>
  %a = mxnet.Reshape(%x) {shape = [-3, -3], name = "a"} : tensor<*x!moir.dynamic>
  // CHECK: tensor<2x4x30xf32>
  %b = mxnet.Reshape(%a) {shape = [-4, 2, -1, -2], name = "b"} : tensor<*x!moir.dynamic>
  opset1.Result(%b) {name = "y"}
}

// -----

// MXNet splits along axis 1 by default.
// CHECK-LABEL: @axis_of_split
moir.model @axis_of_split {
  %x = opset1.Parameter() {name = "x"} : tensor<2x4x6xf32>
  // CHECK: tensor<2x2x6xf32>
  %a, %b = mxnet._split_v2(%x) {sections = 2, name = "a"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  opset1.Result(%a) {name = "y"}
}
