// RUN: moir-opt %s -p separate-maps --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @rows
// CHECK:           %0 = opset1.Multiply(%x, %map) : tensor<?x4x3x3xf32>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
// CHECK-NEXT:      %2 = opset1.PRelu(%0, %1) : tensor<?x4x3x3xf32>
// CHECK-NEXT:      %3 = opset1.Convolution(%2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], name = "c"} : tensor<?x6x3x3xf32>
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x3x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<6x4x3x3xf32>
    %map = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<3x1xf32>
    %1 = opset1.Multiply(%x, %map) : tensor<?x4x3x3xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], name = "c"} : tensor<?x6x3x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The runtime makes padding that a Pad adds a part of the convolution.
// CHECK-LABEL: moir.model @padded
// CHECK:           %0 = opset1.Divide(%x, %map) : tensor<?x4x3xf32>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
// CHECK-NEXT:      %2 = opset1.PRelu(%0, %1) : tensor<?x4x3xf32>
// CHECK-NEXT:      %3 = opset12.Pad(%2, %no, %one) {pad_mode = "constant"} : tensor<?x4x4xf32>
// CHECK-NEXT:      %4 = opset1.GroupConvolution(%3, %w) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x4x2xf32>
builtin.module {
  moir.model @padded {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x1x3xf32>
    %map = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %no = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 0]>} : tensor<3xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, 1]>} : tensor<3xsi64>
    %1 = opset1.Divide(%x, %map) {m_pythondiv = true} : tensor<?x4x3xf32>
    %2 = opset12.Pad(%1, %no, %one) {pad_mode = "constant"} : tensor<?x4x4xf32>
    %3 = opset1.GroupConvolution(%2, %w) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x4x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// No padding, a map of another size, a factor for each channel.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       PRelu
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x3x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x4x5x5xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4x3x3xf32>
    %map = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<3x1xf32>
    %larger = opset1.Constant() {value = #moir.data<tensor<5x1xf32>, [1.0, 2.0, 3.0, 4.0, 5.0]>} : tensor<5x1xf32>
    %factors = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
    %1 = opset1.Multiply(%x, %map) : tensor<?x4x3x3xf32>
    %2 = opset1.Convolution(%1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x1x1xf32>
    %3 = opset1.Multiply(%y, %larger) : tensor<?x4x5x5xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x4x5x5xf32>
    %5 = opset1.Multiply(%4, %factors) : tensor<?x4x5x5xf32>
    %6 = opset1.Convolution(%5, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x4x5x5xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%6) {name = "b"}
  }
}
