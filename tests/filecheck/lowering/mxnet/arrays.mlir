// RUN: moir-opt %s -p lower-mxnet --split-input-file | filecheck %s

// CHECK-LABEL: @diagonal
moir.model @diagonal {
  %x = opset1.Parameter() {name = "x"} : tensor<3x4xf32>
  // CHECK: opset1.Reshape
  // CHECK: opset8.Gather
  // CHECK-SAME: tensor<3xf32>
  %y = mxnet.diag(%x) {k = 1, name = "diag"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @columns
moir.model @columns {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3x5x6xf32>
  // CHECK: opset1.Convolution
  // CHECK: tensor<2x18x8xf32>
  %y = mxnet.im2col(%x) {kernel = [2, 3], stride = [1, 2], name = "columns"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @overlaps
moir.model @overlaps {
  %a = opset1.Parameter() {name = "a"} : tensor<2x7x4xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<5x4xf32>
  // CHECK: opset1.Divide
  // CHECK: opset1.Select
  // CHECK-SAME: tensor<2x7x5xf32>
  %y = mxnet._contrib_box_iou(%a, %b) {name = "iou"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @places
moir.model @places {
  %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
  // CHECK: tensor<2x4xf32>
  %y = mxnet._unravel_index(%x) {shape = [4, 5], name = "places"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @products
moir.model @products {
  %a = opset1.Parameter() {name = "a"} : tensor<2x3x4xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<5x4x6xf32>
  // CHECK: opset1.MatMul
  // CHECK: tensor<2x3x5x6xf32>
  %y = mxnet._np_dot(%a, %b) {name = "dot"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @regions
moir.model @regions {
  %scores = opset1.Parameter() {name = "scores"} : tensor<2x12x5x6xf32>
  %offsets = opset1.Parameter() {name = "offsets"} : tensor<2x24x5x6xf32>
  %images = opset1.Parameter() {name = "images"} : tensor<2x3xf32>
  // CHECK: opset9.NonMaxSuppression
  // CHECK: tensor<16x5xf32>
  %y = mxnet._contrib_MultiProposal(%scores, %offsets, %images) {rpn_post_nms_top_n = 8, scales = [2, 4], feature_stride = 8, name = "regions"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @images
moir.model @images {
  %x = opset1.Parameter() {name = "x"} : tensor<4x5x3xui8>
  // CHECK: opset1.Convert
  // CHECK: opset1.Transpose
  // CHECK-SAME: tensor<3x4x5xf32>
  %y = mxnet._image_to_tensor(%x) {name = "tensor"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
