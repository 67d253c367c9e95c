// RUN: moir-opt %s -p widen-kernels --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @padded
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<1x1x1x2xf32>, [0.0, 3.0]>} : tensor<1x1x1x2xf32>
// CHECK-NEXT:      %1 = opset1.Convolution(%x, %0)
// CHECK-SAME:      strides = [1, 2]
// CHECK-SAME:      pads_begin = [1, 2], pads_end = [1, 1]
// CHECK-SAME:      : tensor<1x1x6x3xf32>
builtin.module {
  moir.model @padded {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [3.0]>} : tensor<1x1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], name = "y"} : tensor<1x1x6x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Weights that are computed.
// CHECK-LABEL: moir.model @computed
// CHECK:           %[[W:.*]] = opset12.Pad(%w, {{.*}}) {pad_mode = "constant"} : tensor<1x1x2xf32>
// CHECK:           opset1.Convolution(%x, %[[W]])
// CHECK-SAME:      pads_begin = [2], pads_end = [0]
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [2], dilations = [1], pads_begin = [1], pads_end = [0]} : tensor<1x1x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Dilations, which mean nothing for one element, are dropped.
// CHECK-LABEL: moir.model @dilated
// CHECK:           opset1.Convolution(%x, %{{.*}}) {strides = [2], dilations = [1], pads_begin = [3], pads_end = [2]
// CHECK-SAME:      : tensor<1x1x7xf32>
builtin.module {
  moir.model @dilated {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x9xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [2], dilations = [2], pads_begin = [2], pads_end = [2]} : tensor<1x1x7xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Padding where there is no stride, a larger kernel, no padding.
// CHECK-LABEL: moir.model @others
// CHECK:           %{{.*}} = opset1.Convolution(%x, %w) {strides = [1, 2]
// CHECK-NEXT:      %{{.*}} = opset1.Convolution(%x, %v) {strides = [2, 2]
// CHECK-NEXT:      %{{.*}} = opset1.Convolution(%x, %w) {strides = [2, 2]
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [3.0]>} : tensor<1x1x1x1xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<1x1x1x2xf32>, [3.0, 1.0]>} : tensor<1x1x1x2xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 2], dilations = [1, 1], pads_begin = [1, 0], pads_end = [1, 0]} : tensor<1x1x6x2xf32>
    %2 = opset1.Convolution(%x, %v) {strides = [2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<1x1x3x3xf32>
    %3 = opset1.Convolution(%x, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x2x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}
