// RUN: moir-opt %s -p "fuse-dilated-convolution,eliminate-dead" --split-input-file | filecheck %s

// Blocks become dilations; what is padded at the end and cut off again is not a padding.
// CHECK-LABEL: moir.model @dilated
// CHECK-NOT:     ToBatch
// CHECK:         opset1.Convolution(%{{.*}}, %{{.*}}) {strides = [1, 1], dilations = [2, 3], pads_begin = [2, 0], pads_end = [2, 1], name = "y"
// CHECK-NOT:     ToSpace
builtin.module {
  moir.model @dilated {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x7x9xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x3xf32>
    %block = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 3]>} : tensor<4xsi64>
    %begin = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 2, 1]>} : tensor<4xsi64>
    %end = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 3, 2]>} : tensor<4xsi64>
    %cut = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 1]>} : tensor<4xsi64>
    %cut_end = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>} : tensor<4xsi64>
    %1 = opset2.SpaceToBatch(%x, %block, %begin, %end) : tensor<6x1x6x4xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "valid"} : tensor<6x4x4x2xf32>
    %3 = opset2.BatchToSpace(%2, %block, %cut, %cut_end) {name = "y"} : tensor<1x4x7x4xf32>
    opset1.Result(%3) {name = "result"}
  }
}

// -----

// Lines, channel-last: the axis that is inserted for the convolution stays.
// CHECK-LABEL: moir.model @lines
// CHECK:         opset1.Unsqueeze
// CHECK:         opset1.Transpose
// CHECK:         opset1.Convolution(%{{.*}}, %{{.*}}) {strides = [1, 1], dilations = [1, 2], pads_begin = [0, 4], pads_end = [0, 0]
// CHECK:         opset1.Transpose
// CHECK:         opset1.Squeeze(%{{.*}}) {name = "y"
builtin.module {
  moir.model @lines {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8x2xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x2x1x3xf32>
    %block = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 1]>} : tensor<3xsi64>
    %begin = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 4, 0]>} : tensor<3xsi64>
    %none = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %1 = opset2.SpaceToBatch(%x, %block, %begin, %none) : tensor<?x6x2xf32>
    %2 = opset1.Unsqueeze(%1, %axis) : tensor<?x1x6x2xf32>
    %3 = opset1.Transpose(%2, %first) : tensor<?x2x1x6xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "valid"} : tensor<?x4x1x4xf32>
    %5 = opset1.Transpose(%4, %last) : tensor<?x1x4x4xf32>
    %6 = opset1.Squeeze(%5, %axis) : tensor<?x4x4xf32>
    %7 = opset2.BatchToSpace(%6, %block, %none, %none) {name = "y"} : tensor<?x8x4xf32>
    opset1.Result(%7) {name = "result"}
  }
}

// -----

// Other blocks after the convolution than before it, and a convolution with strides: nothing happens.
// CHECK-LABEL: moir.model @kept
// CHECK:         opset2.BatchToSpace
// CHECK:         opset2.BatchToSpace
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x3xf32>
    %block = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 2]>} : tensor<4xsi64>
    %other = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 4, 1]>} : tensor<4xsi64>
    %none = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %1 = opset2.SpaceToBatch(%x, %block, %none, %none) : tensor<4x1x4x4xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "valid"} : tensor<4x4x2x2xf32>
    %3 = opset2.BatchToSpace(%2, %other, %none, %none) {name = "a"} : tensor<1x4x8x2xf32>
    opset1.Result(%3) {name = "first"}
    %4 = opset1.Convolution(%1, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "same_upper"} : tensor<4x4x2x2xf32>
    %5 = opset2.BatchToSpace(%4, %block, %none, %none) {name = "b"} : tensor<1x4x4x4xf32>
    opset1.Result(%5) {name = "second"}
  }
}

// -----

// A bias, an activation and rounding after the convolution stay after it.
// CHECK-LABEL: moir.model @rounded
// CHECK:         %[[C:.*]] = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [2, 2], pads_begin = [2, 2], pads_end = [2, 2]
// CHECK:         %[[A:.*]] = opset1.Add(%bias, %[[C]])
// CHECK:         %[[R:.*]] = opset1.Relu(%[[A]])
// CHECK:         opset1.FakeQuantize(%[[R]], %low, %high, %low, %high) {levels = 256{{.*}}name = "y"
// CHECK-NOT:     ToSpace
builtin.module {
  moir.model @rounded {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x1x3x3xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %block = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 2]>} : tensor<4xsi64>
    %pads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 2, 2]>} : tensor<4xsi64>
    %none = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %1 = opset2.SpaceToBatch(%x, %block, %pads, %pads) : tensor<4x1x6x6xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "valid"} : tensor<4x2x4x4xf32>
    %3 = opset1.Add(%bias, %2) : tensor<4x2x4x4xf32>
    %4 = opset1.Relu(%3) : tensor<4x2x4x4xf32>
    %5 = opset1.FakeQuantize(%4, %low, %high, %low, %high) {levels = 256} : tensor<4x2x4x4xf32>
    %6 = opset2.BatchToSpace(%5, %block, %none, %none) {name = "y"} : tensor<1x2x8x8xf32>
    opset1.Result(%6) {name = "result"}
  }
}

// -----

// What is added differs along the rows of a block: nothing happens.
// CHECK-LABEL: moir.model @rows
// CHECK:         opset2.BatchToSpace
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x1x1x1xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %block = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 2]>} : tensor<4xsi64>
    %none = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %1 = opset2.SpaceToBatch(%x, %block, %none, %none) : tensor<4x1x2x2xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], auto_pad = "valid"} : tensor<4x2x2x2xf32>
    %3 = opset1.Add(%2, %bias) : tensor<4x2x2x2xf32>
    %4 = opset2.BatchToSpace(%3, %block, %none, %none) : tensor<1x2x4x4xf32>
    opset1.Result(%4) {name = "result"}
  }
}
