// RUN: moir-opt %s -p "fold-channel-order,eliminate-dead" --split-input-file | filecheck %s

// The order goes past operations with constants into the filters, padding or not.
// CHECK-LABEL: moir.model @between
// CHECK:           %[[M:.*]] = opset1.Constant() {value = #moir.data<tensor<3x1x1xf32>, [20.0, 30.0, 10.0]>}
// CHECK-NEXT:      %[[S:.*]] = opset1.Subtract(%[[M]], %x)
// CHECK-NEXT:      %[[D:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>}
// CHECK-NEXT:      %[[Q:.*]] = opset1.Divide(%[[S]], %[[D]])
// CHECK-NEXT:      %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<2x3x1x1xf32>, [2.0, 3.0, 1.0, 5.0, 6.0, 4.0]>}
// CHECK-NEXT:      opset1.Convolution(%[[Q]], %[[W]])
builtin.module {
  moir.model @between {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x8x8xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 0, -2]>} : tensor<3xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [-3]>} : tensor<si64>
    %0 = opset8.Gather(%x, %i, %a) : tensor<?x3x8x8xf32>
    %m = opset1.Constant() {value = #moir.data<tensor<3x1x1xf32>, [10.0, 20.0, 30.0]>} : tensor<3x1x1xf32>
    %1 = opset1.Subtract(%m, %0) : tensor<?x3x8x8xf32>
    %d = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %2 = opset1.Divide(%1, %d) : tensor<?x3x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3x1x1xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3x1x1xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x2x10x10xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Within groups it is possible, and of transposed convolutions.
// CHECK-LABEL: moir.model @groups
// CHECK-NOT:       Gather
// CHECK:           opset1.Constant() {value = #moir.data<tensor<2x1x2x1xf32>, [2.0, 1.0, 4.0, 3.0]>}
// CHECK-NEXT:      opset1.GroupConvolution(%x
// CHECK:           opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [2.0, 1.0, 4.0, 3.0]>}
// CHECK-NEXT:      opset1.ConvolutionBackpropData(%x
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<1x4x8xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 0, 3, 2]>} : tensor<4xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %0 = opset8.Gather(%x, %i, %a) : tensor<1x4x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x2x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x1x2x1xf32>
    %1 = opset1.GroupConvolution(%0, %w) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x2x8xf32>
    opset1.Result(%1) {name = "y"}
    %v = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
    %2 = opset1.ConvolutionBackpropData(%0, %v) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x8xf32>
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// Channels of several groups, some of the channels, another dimension.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-3:   opset8.Gather
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %j = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>} : tensor<2xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %b = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %0 = opset8.Gather(%x, %i, %a) : tensor<1x2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1x1xf32>
    %1 = opset1.GroupConvolution(%0, %w) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x2x2xf32>
    opset1.Result(%1) {name = "y"}
    %v = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [1.0, 2.0]>} : tensor<1x2x1xf32>
    %2 = opset8.Gather(%x, %j, %a) : tensor<1x2x2xf32>
    %3 = opset1.Convolution(%2, %v) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x2xf32>
    opset1.Result(%3) {name = "z"}
    %u = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [1.0, 3.0]>} : tensor<1x2x1xf32>
    %4 = opset8.Gather(%x, %i, %b) : tensor<1x2x2xf32>
    %5 = opset1.Convolution(%4, %u) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x2xf32>
    opset1.Result(%5) {name = "u"}
  }
}
