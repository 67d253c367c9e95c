// RUN: moir-opt %s -p "fuse-grouped-convolution,eliminate-dead" --split-input-file | filecheck %s

// Both halves of the channels.
// CHECK-LABEL: moir.model @halves
// CHECK:           %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1x1x1xf32>, [2.0, 3.0]>}
// CHECK:           opset1.GroupConvolution(%x, %[[W]]) {strides = [2, 1], pads_begin = [1, 0], pads_end = [0, 0], dilations = [1, 1]
builtin.module {
  moir.model @halves {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %v = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [3.0]>} : tensor<1x1x1x1xf32>
    %a, %b = opset1.Split(%x, %1) {num_splits = 2} : tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>
    %c = opset1.Convolution(%a, %v) {strides = [2, 1], pads_begin = [1, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %d = opset1.Convolution(%b, %w) {strides = [2, 1], pads_begin = [1, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %y = opset1.Concat(%c, %d) {axis = 1} : tensor<?x2x?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The halves in the other order, and halves with different kernels.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:     opset1.GroupConvolution
// CHECK:           opset1.Result(%{{.*}}) {name = "z"}
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %v = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x3xf32>, [3.0, 1.0, 2.0]>} : tensor<1x1x1x3xf32>
    %a, %b = opset1.Split(%x, %1) {num_splits = 2} : tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>
    %c = opset1.Convolution(%b, %v) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %d = opset1.Convolution(%a, %v) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %y = opset1.Concat(%c, %d) {axis = 1} : tensor<?x2x?x?xf32>
    %e, %f = opset1.Split(%x, %1) {num_splits = 2} : tensor<?x1x?x?xf32>, tensor<?x1x?x?xf32>
    %g = opset1.Convolution(%e, %v) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %h = opset1.Convolution(%f, %w) {strides = [1, 1], pads_begin = [0, 1], pads_end = [0, 1], dilations = [1, 1]} : tensor<?x1x?x?xf32>
    %z = opset1.Concat(%g, %h) {axis = 1} : tensor<?x2x?x?xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}
