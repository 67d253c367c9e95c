// RUN: moir-opt %s -p clamp-before-pooling --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @gelu
// CHECK:           %0 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %1 = opset1.Add(%0, %b) : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %2 = opset1.Clamp(%1) {min = -inf, max = inf} : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %3 = opset1.MaxPool(%2) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], name = "p"} : tensor<?x4x4x4xf32>
// CHECK-NEXT:      %4 = opset7.Gelu(%3) : tensor<?x4x4x4xf32>
builtin.module {
  moir.model @gelu {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<1x4x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x8x8xf32>
    %2 = opset1.Add(%1, %b) : tensor<?x4x8x8xf32>
    %3 = opset1.MaxPool(%2) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], name = "p"} : tensor<?x4x4x4xf32>
    %4 = opset7.Gelu(%3) : tensor<?x4x4x4xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Behind a Tanh and a Transpose.
// CHECK-LABEL: moir.model @chain
// CHECK:           %0 = opset1.GroupConvolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x8xf32>
// CHECK-NEXT:      %1 = opset1.Clamp(%0) {min = -inf, max = inf} : tensor<?x4x8xf32>
// CHECK-NEXT:      %2, %places = opset14.MaxPool(%1) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x4xf32>, tensor<?x4x4xsi64>
// CHECK-NEXT:      %3 = opset1.Tanh(%2) : tensor<?x4x4xf32>
// CHECK-NEXT:      %4 = opset1.Transpose(%3, %order) : tensor<?x4x4xf32>
// CHECK-NEXT:      %5 = opset1.Abs(%4) : tensor<?x4x4xf32>
builtin.module {
  moir.model @chain {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x1x1x3xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %1 = opset1.GroupConvolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x8xf32>
    %2, %places = opset14.MaxPool(%1) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x4xf32>, tensor<?x4x4xsi64>
    %3 = opset1.Tanh(%2) : tensor<?x4x4xf32>
    %4 = opset1.Transpose(%3, %order) : tensor<?x4x4xf32>
    %5 = opset1.Abs(%4) : tensor<?x4x4xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// What the runtime may make a Swish of.
// CHECK-LABEL: moir.model @two_users
// CHECK:           %0 = opset1.Convolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x8xf32>
// CHECK-NEXT:      %1 = opset1.Clamp(%0) {min = -inf, max = inf} : tensor<?x4x8xf32>
// CHECK-NEXT:      %2 = opset1.MaxPool(%1) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x4xf32>
// CHECK-NEXT:      %3 = opset1.Sigmoid(%2) : tensor<?x4x4xf32>
// CHECK-NEXT:      %4 = opset1.Multiply(%2, %3) : tensor<?x4x4xf32>
builtin.module {
  moir.model @two_users {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4x3xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x8xf32>
    %2 = opset1.MaxPool(%1) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x4xf32>
    %3 = opset1.Sigmoid(%2) : tensor<?x4x4xf32>
    %4 = opset1.Multiply(%2, %3) : tensor<?x4x4xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Rising activations, another operation before the MaxPool, another operand, a MaxPool that is not of a convolution.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Clamp
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4x3xf32>
    %slope = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.5]>} : tensor<1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x8xf32>
    %2 = opset1.MaxPool(%1) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x4xf32>
    %3 = opset1.PRelu(%2, %slope) : tensor<?x4x4xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [1], dilations = [1], pads_begin = [1], pads_end = [1]} : tensor<?x4x4xf32>
    %5 = opset1.Relu(%4) : tensor<?x4x4xf32>
    %6 = opset1.MaxPool(%5) {kernel = [2], strides = [2], pads_begin = [0], pads_end = [0]} : tensor<?x4x2xf32>
    %7 = opset1.Abs(%6) : tensor<?x4x2xf32>
    opset1.Result(%7) {name = "y"}
  }
}
