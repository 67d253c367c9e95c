// RUN: moir-opt %s -p "fold-shifts,eliminate-dead" --split-input-file | filecheck %s

// Numbers for the channels become a bias, which is merged with that of the convolution.
// CHECK-LABEL: moir.model @channels
// CHECK:           %[[C:.*]] = opset1.Convolution(%x, %{{.*}})
// CHECK-NEXT:      %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [-210.0, -429.0]>}
// CHECK-NEXT:      opset1.Add(%[[C]], %[[B]]) {name = "biased"}
builtin.module {
  moir.model @channels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [10.0, 100.0]>} : tensor<1x2x1x1xf32>
    %0 = opset1.Subtract(%x, %m) : tensor<?x2x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2x1x1xf32>
    %1 = opset1.Convolution(%0, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x2x8x8xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [0.0, 1.0]>} : tensor<1x2x1x1xf32>
    %2 = opset1.Add(%1, %b) {name = "biased"} : tensor<?x2x8x8xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// One number for all channels, groups, and auto_pad valid.
// CHECK-LABEL: moir.model @groups
// CHECK:           %[[C:.*]] = opset1.GroupConvolution(%x, %{{.*}})
// CHECK-NEXT:      %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [6.0, 14.0]>}
// CHECK-NEXT:      opset1.Add(%[[C]], %[[B]])
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x8xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %0 = opset1.Add(%m, %x) : tensor<1x2x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x1x1x2xf32>
    %1 = opset1.GroupConvolution(%0, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1], auto_pad = "valid"} : tensor<1x2x7xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// With padding the windows at the border have less of the constant.
// CHECK-LABEL: moir.model @padded
// CHECK:           %[[S:.*]] = opset1.Subtract(%x, %{{.*}})
// CHECK:           opset1.Convolution(%[[S]], %{{.*}})
// CHECK-NEXT:      opset1.Result
builtin.module {
  moir.model @padded {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x8x8xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %0 = opset1.Subtract(%x, %m) : tensor<1x1x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [3.0]>} : tensor<1x1x1x1xf32>
    %1 = opset1.Convolution(%0, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 1]} : tensor<1x1x8x9xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Neither an operation with another use, nor a constant that is not the same everywhere, nor one that broadcasts.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-3:   opset1.Convolution
// CHECK-NOT:       opset1.Add
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x1x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [3.0]>} : tensor<1x1x1x1xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %0 = opset1.Subtract(%x, %m) : tensor<1x1x1x2xf32>
    %1 = opset1.Convolution(%0, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x1x2xf32>
    opset1.Result(%0) {name = "s"}
    opset1.Result(%1) {name = "y"}
    %n = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 3.0]>} : tensor<2xf32>
    %2 = opset1.Subtract(%x, %n) : tensor<1x1x1x2xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x1x2xf32>
    opset1.Result(%3) {name = "z"}
    %k = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [2.0, 3.0]>} : tensor<1x2x1x1xf32>
    %4 = opset1.Subtract(%x, %k) : tensor<1x2x1x2xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [3.0, 4.0]>} : tensor<1x2x1x1xf32>
    %5 = opset1.Convolution(%4, %v) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x1x2xf32>
    opset1.Result(%5) {name = "u"}
  }
}
