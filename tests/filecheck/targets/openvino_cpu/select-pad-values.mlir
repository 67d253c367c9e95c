// RUN: moir-opt %s -p select-pad-values --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @computed
// CHECK:         %[[M:.*]] = opset12.Pad(%{{.*}}, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<3x5xui8>
// CHECK:         %[[I:.*]] = opset1.Convert(%[[M]]) {destination_type = i1} : tensor<3x5xi1>
// CHECK:         %[[P:.*]] = opset12.Pad(%x, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<3x5xf32>
// CHECK:         opset1.Select(%[[I]], %[[P]], %v) {name = "p"} : tensor<3x5xf32>
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %e, %v) {pad_mode = "constant", name = "p"} : tensor<3x5xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// An integer that f32 does not hold is chosen too.
// CHECK-LABEL: moir.model @large
// CHECK:         opset1.Select
builtin.module {
  moir.model @large {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xsi64>
    %v = opset1.Constant() {value = #moir.data<tensor<si64>, [9223372036854775807]>} : tensor<si64>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %b, %v) {pad_mode = "constant"} : tensor<4x3xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A value that is constant stays.
// CHECK-LABEL: moir.model @constant
// CHECK-NOT:     opset1.Select
builtin.module {
  moir.model @constant {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [9.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %b, %v) {pad_mode = "constant"} : tensor<4x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Along one axis a value is not one of the levels to which the data are rounded.

// CHECK-LABEL: moir.model @levels
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @levels {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %begins = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %ends = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
    %value = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %2 = opset12.Pad(%1, %begins, %ends, %value) {pad_mode = "constant"} : tensor<3x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// So it is for what is computed of levels in integers.

// CHECK-LABEL: moir.model @sums
// CHECK:           %[[S:.*]] = opset1.ReduceSum
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @sums {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %begins = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %ends = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %value = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %2 = opset1.ReduceSum(%1, %axes) {keep_dims = true} : tensor<2x1xf32>
    %3 = opset12.Pad(%2, %begins, %ends, %value) {pad_mode = "constant"} : tensor<3x1xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// An axis of size 1 is padded with 0 as an integer.
// CHECK-LABEL: moir.model @single_elements
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @single_elements {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [254.0]>} : tensor<f32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3x1xf32>
    %2 = opset12.Pad(%1, %b, %e, %v) {pad_mode = "constant"} : tensor<2x3x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Along longer axes 0 is the zero point.
// CHECK-LABEL: moir.model @several_elements
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @several_elements {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [254.0]>} : tensor<f32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3x2xf32>
    %2 = opset12.Pad(%1, %b, %e, %v) {pad_mode = "constant"} : tensor<2x3x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Without a zero point the integer 0 is 0.
// CHECK-LABEL: moir.model @single_elements_from_zero
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @single_elements_from_zero {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [255.0]>} : tensor<f32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3x1xf32>
    %2 = opset12.Pad(%1, %b, %e, %v) {pad_mode = "constant"} : tensor<2x3x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The same for signed integers.
// CHECK-LABEL: moir.model @single_signed_elements
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @single_signed_elements {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3x1xf32>
    %2 = opset12.Pad(%1, %b, %e, %v) {pad_mode = "constant"} : tensor<2x3x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A quantized convolution reads unsigned integers, which have a zero point.
// CHECK-LABEL: moir.model @convolved_signed_elements
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @convolved_signed_elements {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1x4xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 0]>} : tensor<3xsi64>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x1x4xf32>
    %2 = opset12.Pad(%1, %b, %e, %v) {pad_mode = "constant"} : tensor<2x2x4xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<1x2x1xsi8>, [64, -64]>} : tensor<1x2x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<1x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [0.015625]>} : tensor<1x1x1xf32>
    %w = opset1.Multiply(%f, %s) : tensor<1x2x1xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1], pads_begin = [0], pads_end = [0], dilations = [1]} : tensor<2x1x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}
