// RUN: moir-opt %s -p align-strides --split-input-file | filecheck %s

// The last column would be another window with the stride of rows.
// CHECK-LABEL: moir.model @cut
// CHECK:           %[[X:.*]] = opset8.Slice(%x, {{.*}}) : tensor<?x1x9x5xf32>
// CHECK:           opset1.Convolution(%[[X]], %w)
// CHECK-SAME:      strides = [1, 1]
// CHECK-SAME:      name = "y"} : tensor<?x4x7x1xf32>
builtin.module {
  moir.model @cut {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x9x6xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x5xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], name = "y"} : tensor<?x4x7x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Padding at the end that nothing reads goes, the rest stays.
// CHECK-LABEL: moir.model @padded
// CHECK-NOT:     Slice
// CHECK:           opset1.Convolution(%x, %w)
// CHECK-SAME:      strides = [1, 1]
// CHECK-SAME:      pads_begin = [0, 1], pads_end = [0, 1]
builtin.module {
  moir.model @padded {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1x9x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x5xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 3], dilations = [1, 1], pads_begin = [0, 1], pads_end = [0, 2]} : tensor<2x4x7x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @one_image
// CHECK:           opset1.Convolution(%x, %w) {strides = [1, 1]
builtin.module {
  moir.model @one_image {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x9x5xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x5xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x4x7x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Several columns, several channels: the plugin computes these rightly.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-2:   opset1.Convolution({{.*}}) {strides = [1, 2]
builtin.module {
  moir.model @kept {
    %y = opset1.Parameter() {name = "y"} : tensor<2x1x9x7xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x2x9x5xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x3x5xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<4x2x3x5xf32>
    %2 = opset1.Convolution(%y, %w) {strides = [1, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<2x4x7x2xf32>
    %3 = opset1.Convolution(%z, %v) {strides = [1, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<2x4x7x1xf32>
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}
