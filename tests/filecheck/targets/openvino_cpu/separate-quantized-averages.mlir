// RUN: moir-opt %s -p separate-quantized-averages --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @factors
// CHECK:           %0 = opset1.Multiply(%x, %c) : tensor<?x2x8x8xf32>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
// CHECK-NEXT:      %2 = opset1.PRelu(%0, %1) {name = "m"} : tensor<?x2x8x8xf32>
// CHECK-NEXT:      %3 = opset1.AvgPool(%2) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x2x4x4xf32>
// CHECK-NEXT:      %4 = opset1.FakeQuantize(%3, %low, %high, %low, %high) {levels = 256} : tensor<?x2x4x4xf32>
builtin.module {
  moir.model @factors {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, -2.0]>} : tensor<1x2x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Multiply(%x, %c) {name = "m"} : tensor<?x2x8x8xf32>
    %2 = opset1.AvgPool(%1) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x2x4x4xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<?x2x4x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @levels
// CHECK:           %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
// CHECK-NEXT:      %1 = opset1.AvgPool(%0) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x2x4x4xf32>
// CHECK-NEXT:      %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [0xFF800000]>} : tensor<f32>
// CHECK-NEXT:      %3 = opset1.Maximum(%2, %1) {name = "a"} : tensor<?x2x4x4xf32>
// CHECK-NEXT:      %4 = opset1.Negative(%3) : tensor<?x2x4x4xf32>
builtin.module {
  moir.model @levels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %2 = opset1.AvgPool(%1) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true, name = "a"} : tensor<?x2x4x4xf32>
    %3 = opset1.Negative(%2) : tensor<?x2x4x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @limits
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %0)
// CHECK-NEXT:      opset1.Clamp(%[[SAME]]) {min = -0.5, max = 0.7}
builtin.module {
  moir.model @limits {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2xf32>
    %2 = opset1.Clamp(%1) {min = -0.5, max = 0.7} : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Quantized again, and factors of one sign.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       PRelu
// CHECK-NOT:       Maximum
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, 2.0]>} : tensor<1x2x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %2 = opset1.Multiply(%1, %c) : tensor<?x2x8x8xf32>
    %3 = opset1.AvgPool(%2) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x2x4x4xf32>
    %4 = opset1.Relu(%3) : tensor<?x2x4x4xf32>
    %5 = opset1.FakeQuantize(%4, %low, %high, %low, %high) {levels = 256} : tensor<?x2x4x4xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Zeros are averaged with integers that have a zero point.

// CHECK-LABEL: moir.model @padded
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize(%x
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK-NEXT:      opset1.AvgPool(%[[SAME]])
builtin.module {
  moir.model @padded {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %2 = opset1.AvgPool(%1) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Declines: there is no zero point, or the padding is not counted.

// CHECK-LABEL: moir.model @no_zero_point
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @no_zero_point {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.28]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.27]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %zero, %high, %zero, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %2 = opset1.AvgPool(%1) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %3 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %4 = opset1.AvgPool(%3) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %5 = opset1.FakeQuantize(%x, %low, %low, %high, %high) {levels = 256} : tensor<?x2x8x8xf32>
    %6 = opset1.AvgPool(%5) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = true} : tensor<?x2x8x8xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
    opset1.Result(%6) {name = "w"}
  }
}

// -----

// A difference by a factor, in a model that has a FakeQuantize.

// CHECK-LABEL: moir.model @padded_differences
// CHECK:         %[[P:.*]] = opset1.Multiply(
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.AvgPool(%[[M]])
// CHECK:         opset1.AvgPool(%[[P]])
builtin.module {
  moir.model @padded_differences {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Subtract(%x, %high) : tensor<?x2x8x8xf32>
    %2 = opset1.Multiply(%1, %high) : tensor<?x2x8x8xf32>
    %3 = opset1.AvgPool(%2) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %4 = opset1.AvgPool(%2) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = true} : tensor<?x2x8x8xf32>
    %5 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%4) {name = "z"}
    opset1.Result(%5) {name = "w"}
  }
}

// -----

// A product plus a constant, in a model that has a FakeQuantize.

// CHECK-LABEL: moir.model @padded_sums
// CHECK:         %[[S:.*]] = opset1.Add(
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK-NEXT:    opset1.AvgPool(%[[M]])
// CHECK:         %[[P:.*]] = opset1.Multiply(
// CHECK-NEXT:    opset1.AvgPool(%[[P]])
builtin.module {
  moir.model @padded_sums {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Multiply(%x, %high) : tensor<?x2x8x8xf32>
    %2 = opset1.Add(%1, %high) : tensor<?x2x8x8xf32>
    %3 = opset1.AvgPool(%2) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %4 = opset1.Multiply(%x, %high) : tensor<?x2x8x8xf32>
    %5 = opset1.AvgPool(%4) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %6 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%5) {name = "z"}
    opset1.Result(%6) {name = "w"}
  }
}

// -----

// Other operations between the difference and the AvgPool.
// CHECK-LABEL: moir.model @padded_averages_of_differences
// CHECK:         %[[A:.*]] = opset1.AvgPool(
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[A]])
// CHECK-NEXT:    opset1.AvgPool(%[[M]])
builtin.module {
  moir.model @padded_averages_of_differences {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Subtract(%x, %high) : tensor<?x2x8x8xf32>
    %2 = opset1.Multiply(%1, %high) : tensor<?x2x8x8xf32>
    %3 = opset1.AvgPool(%2) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = true} : tensor<?x2x8x8xf32>
    %4 = opset1.AvgPool(%3) {kernel = [3, 3], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], "exclude-pad" = false} : tensor<?x2x8x8xf32>
    %5 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x8x8xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%5) {name = "w"}
  }
}

// -----

// The plugin makes padding of the AvgPool from a Pad.
// CHECK-LABEL: moir.model @padded_before
// CHECK:           %[[PAD:.*]] = opset12.Pad
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %[[PAD]])
// CHECK-NEXT:      opset1.AvgPool(%[[SAME]])
builtin.module {
  moir.model @padded_before {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x3xf32>
    %2 = opset12.Pad(%1, %b, %e) {pad_mode = "constant"} : tensor<?x2x4xf32>
    %3 = opset1.AvgPool(%2) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0], "exclude-pad" = true} : tensor<?x2x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Integers of 8 bits, in a model that has a FakeQuantize.
// CHECK-LABEL: moir.model @bytes
// CHECK:         %[[P:.*]] = opset1.Multiply(
// CHECK:         %[[A:.*]] = opset1.AvgPool(%[[P]])
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[A]])
// CHECK-NEXT:    opset1.Negative(%[[M]])
// CHECK:         %[[L:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.Clamp(%[[L]])
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xui8>
    %y = opset1.Parameter() {name = "y"} : tensor<?xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Convert(%x) {destination_type = f32} : tensor<?x2x8x8xf32>
    %2 = opset1.Multiply(%1, %high) : tensor<?x2x8x8xf32>
    %3 = opset1.AvgPool(%2) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x2x4x4xf32>
    %4 = opset1.Negative(%3) : tensor<?x2x4x4xf32>
    %5 = opset1.Clamp(%2) {min = 1.0, max = 7.0} : tensor<?x2x8x8xf32>
    %6 = opset1.FakeQuantize(%y, %low, %high, %low, %high) {levels = 256} : tensor<?xf32>
    opset1.Result(%4) {name = "a"}
    opset1.Result(%5) {name = "b"}
    opset1.Result(%6) {name = "c"}
  }
}

// -----

// Levels below 0 have a zero point if a quantized convolution reads the averages.
// CHECK-LABEL: moir.model @convolved
// CHECK:           %[[LEVELS:.*]] = opset1.FakeQuantize
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %[[LEVELS]])
// CHECK-NEXT:      opset1.AvgPool(%[[SAME]])
builtin.module {
  moir.model @convolved {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %i = opset1.Constant() {value = #moir.data<tensor<1x2x1xsi8>, [64, -64]>} : tensor<1x2x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<1x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [0.015625]>} : tensor<1x1x1xf32>
    %w = opset1.Multiply(%f, %s) : tensor<1x2x1xf32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x3xf32>
    %2 = opset1.AvgPool(%1) {kernel = [1], strides = [1], pads_begin = [1], pads_end = [1], "exclude-pad" = false} : tensor<?x2x5xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1], pads_begin = [0], pads_end = [0], dilations = [1]} : tensor<?x1x5xf32>
    opset1.Result(%3) {name = "y"}
  }
}
