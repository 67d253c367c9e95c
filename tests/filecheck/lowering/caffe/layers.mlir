// RUN: moir-opt %s -p lower-caffe --split-input-file | filecheck %s

// CHECK-LABEL: @convolution
moir.model @convolution {
  %x = opset1.Parameter() {name = "x"} : tensor<1x2x5x5xf32>
  %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1x1xf32>
  %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 4.0]>} : tensor<2xf32>
  // CHECK: opset1.GroupConvolution
  // CHECK-SAME: strides = [2, 2]
  // CHECK-SAME: tensor<1x2x3x3xf32>
  // CHECK: opset1.Add
  // CHECK-SAME: name = "conv"
  %y = caffe.Convolution(%x, %w, %b) {blobs = 2, convolution_param = {num_output = 2, kernel_size = 1, group = 2, stride = 2}, name = "conv"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @pooling
moir.model @pooling {
  %x = opset1.Parameter() {name = "x"} : tensor<1x2x?x?xf32>
  // CHECK: opset14.MaxPool
  // CHECK-SAME: rounding_type = "ceil_torch"
  %max = caffe.Pooling(%x) {pooling_param = {kernel_size = 3, stride = 2}, name = "max"} : tensor<*x!moir.dynamic>
  // CHECK: opset12.Pad
  // CHECK: opset14.AvgPool
  // CHECK-SAME: rounding_type = "ceil"
  // CHECK-SAME: "exclude-pad" = true
  // CHECK-NOT: Slice
  %average = caffe.Pooling(%max) {pooling_param = {pool = "AVE", kernel_size = 3, stride = 2, pad = 1}, name = "average"} : tensor<*x!moir.dynamic>
  // CHECK: opset14.AvgPool
  // CHECK: opset8.Slice
  %more = caffe.Pooling(%average) {pooling_param = {pool = "AVE", kernel_size = 3, stride = 3, pad = 2}, name = "more"} : tensor<*x!moir.dynamic>
  opset1.Result(%more) {name = "y"}
}

// -----

// CHECK-LABEL: @in_place
moir.model @in_place {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  // CHECK: opset1.PRelu
  %leaky = caffe.ReLU(%x) {relu_param = {negative_slope = 0.1}, name = "leaky"} : tensor<*x!moir.dynamic>
  // CHECK-NEXT: opset1.Result
  %dropped = caffe.Dropout(%leaky) {dropout_param = {dropout_ratio = 0.5}, name = "drop"} : tensor<*x!moir.dynamic>
  opset1.Result(%dropped) {name = "y"}
}
