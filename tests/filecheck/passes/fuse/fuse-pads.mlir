// RUN: moir-opt %s -p "fuse-pads,eliminate-dead" --split-input-file | filecheck %s

// Zeros around the spatial axes are added to the padding of a convolution.
// CHECK-LABEL: moir.model @convolution
// CHECK-NOT:       opset12.Pad
// CHECK:           opset1.Convolution(%{{.*}}, %{{.*}}) {strides = [1, 1], dilations = [1, 1], pads_begin = [2, 0], pads_end = [1, 1], name = "c"} : tensor<?x8x?x?xf32>
builtin.module {
  moir.model @convolution {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<8x3x3x3xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 0]>} : tensor<4xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>} : tensor<4xsi64>
    %1 = opset12.Pad(%x, %b, %e) {pad_mode = "constant"} : tensor<?x3x?x?xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 0], pads_end = [0, 0], name = "c"} : tensor<?x8x?x?xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A mean counts them.
// CHECK-LABEL: moir.model @mean
// CHECK-NOT:       opset12.Pad
// CHECK:           opset14.AvgPool(%{{.*}}) {kernel = [2, 2], strides = [2, 2], pads_begin = [1, 1], pads_end = [0, 0], "exclude-pad" = false}
builtin.module {
  moir.model @mean {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>} : tensor<4xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %1 = opset12.Pad(%x, %b, %e) {pad_mode = "constant"} : tensor<?x3x?x?xf32>
    %2 = opset14.AvgPool(%1) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = true, auto_pad = "valid"} : tensor<?x3x?x?xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// After a Transpose it is moved too.
// CHECK-LABEL: moir.model @transposed
// CHECK:           %[[T:.*]] = opset1.Transpose(%x,
// CHECK:           opset1.Convolution(%[[T]], %{{.*}}) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 2], pads_end = [0, 0]}
builtin.module {
  moir.model @transposed {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<8x3x3x3xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 2, 0]>} : tensor<4xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %1 = opset12.Pad(%x, %b, %e) {pad_mode = "constant"} : tensor<?x?x?x3xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x?x?xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x8x?x?xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Another value, another mode, channels, elements cut off, and a window that pads by itself keep their Pad.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-5:   opset12.Pad
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<8x3x3x3xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<8x5x3x3xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>} : tensor<4xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 1, 1]>} : tensor<4xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, -1, 0]>} : tensor<4xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset12.Pad(%x, %b, %b, %one) {pad_mode = "constant"} : tensor<?x3x?x?xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x8x?x?xf32>
    opset1.Result(%2) {name = "value"}
    %3 = opset12.Pad(%x, %b, %b) {pad_mode = "reflect"} : tensor<?x3x?x?xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x8x?x?xf32>
    opset1.Result(%4) {name = "mode"}
    %5 = opset12.Pad(%x, %c, %c) {pad_mode = "constant"} : tensor<?x5x?x?xf32>
    %6 = opset1.Convolution(%5, %v) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x8x?x?xf32>
    opset1.Result(%6) {name = "channels"}
    %7 = opset12.Pad(%x, %n, %b) {pad_mode = "constant"} : tensor<?x3x?x?xf32>
    %8 = opset1.Convolution(%7, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x8x?x?xf32>
    opset1.Result(%8) {name = "cut"}
    %9 = opset12.Pad(%x, %b, %b) {pad_mode = "constant"} : tensor<?x3x?x?xf32>
    %10 = opset14.AvgPool(%9) {kernel = [3, 3], strides = [2, 2], pads_begin = [1, 1], pads_end = [0, 0], "exclude-pad" = true} : tensor<?x3x?x?xf32>
    opset1.Result(%10) {name = "mean"}
  }
}
