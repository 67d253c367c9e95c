// RUN: moir-opt %s -p lower-caffe --split-input-file | filecheck %s

// CHECK-LABEL: @correlation
moir.model @correlation {
  %a = opset1.Parameter() {name = "a"} : tensor<?x2x4x5xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<?x2x4x5xf32>
  // CHECK-COUNT-2: opset12.Pad
  // CHECK-COUNT-9: opset1.ReduceMean
  // CHECK: opset1.Concat
  // CHECK-SAME: tensor<?x9x4x5xf32>
  %y = caffe.Correlation(%a, %b) {correlation_param = {kernel_size = 1, max_displacement = 1, pad = 1}, name = "correlation"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @accum
moir.model @accum {
  %a = opset1.Parameter() {name = "a"} : tensor<1x2x3x3xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<1x1x5x5xf32>
  // CHECK: opset11.Interpolate
  // CHECK: opset1.Concat
  // CHECK-SAME: tensor<1x3x5x5xf32>
  %y = caffe.Accum(%a, %b) {name = "accum"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @warp
moir.model @warp {
  %x = opset1.Parameter() {name = "x"} : tensor<1x3x5x6xf32>
  %flow = opset1.Parameter() {name = "flow"} : tensor<1x2x5x6xf32>
  // CHECK: opset9.GridSample
  // CHECK-SAME: padding_mode = "border"
  // CHECK: opset1.Select
  %y = caffe.FlowWarp(%x, %flow) {name = "warp"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @augmentation
moir.model @augmentation {
  %x = opset1.Parameter() {name = "x"} : tensor<1x1x6x6xf32>
  // CHECK: opset8.Slice(%x
  // CHECK-SAME: tensor<1x1x4x4xf32>
  // CHECK: opset1.Subtract
  %y = caffe.DataAugmentation(%x) {augmentation_param = {crop_height = 4, crop_width = 4, mean = 0.5}, name = "augmentation"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
