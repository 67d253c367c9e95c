// RUN: moir-opt %s -p separate-parts --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @swapped
// CHECK:         %[[C:.*]] = opset1.Convolution
// CHECK:         %[[D:.*]] = opset1.Convolution
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[C]])
// CHECK:         opset1.Concat(%[[M]], %[[D]]) {axis = 1, name = "c"}
builtin.module {
  moir.model @swapped {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x5x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %0, %1 = opset1.Split(%x, %a) {num_splits = 2} : tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x5x5xf32>
    %3 = opset1.Convolution(%0, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x5x5xf32>
    %4 = opset1.Concat(%2, %3) {axis = 1, name = "c"} : tensor<1x2x5x5xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// The groups of one convolution.
// CHECK-LABEL: moir.model @groups
// CHECK-NOT:     opset1.Maximum
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x5x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %0, %1 = opset1.Split(%x, %a) {num_splits = 2} : tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>
    %2 = opset1.Convolution(%0, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x5x5xf32>
    %3 = opset1.Convolution(%1, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x5x5xf32>
    %4 = opset1.Concat(%2, %3) {axis = 1} : tensor<1x2x5x5xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// With an input of the model.
// CHECK-LABEL: moir.model @others
// CHECK:         opset1.Maximum
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x5x5xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x3x5x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %0, %1 = opset1.Split(%x, %a) {num_splits = 2} : tensor<1x1x5x5xf32>, tensor<1x1x5x5xf32>
    %2 = opset1.Convolution(%0, %w) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x5x5xf32>
    %3 = opset1.Concat(%2, %z) {axis = 1} : tensor<1x4x5x5xf32>
    opset1.Result(%3) {name = "y"}
  }
}
