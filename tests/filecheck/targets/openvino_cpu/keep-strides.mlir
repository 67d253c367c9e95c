// RUN: moir-opt %s -p keep-strides --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @second
// CHECK:           %0, %1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>
// CHECK-NEXT:      %2 = opset1.Sigmoid(%1) : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %3 = opset1.Multiply(%0, %2) : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %4 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
// CHECK-NEXT:      %5 = opset1.PRelu(%3, %4) : tensor<?x4x8x8xf32>
// CHECK-NEXT:      %6 = opset1.Convolution(%5, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], name = "c"} : tensor<?x6x4x4xf32>
builtin.module {
  moir.model @second {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<6x4x1x1xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1, %2 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>
    %3 = opset1.Sigmoid(%2) : tensor<?x4x8x8xf32>
    %4 = opset1.Multiply(%1, %3) : tensor<?x4x8x8xf32>
    %5 = opset1.Convolution(%4, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], name = "c"} : tensor<?x6x4x4xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// The first result, no elementwise operation, a larger kernel.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       PRelu
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<6x4x1x1xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<6x4x3x3xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1, %2 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x4x8x8xf32>, tensor<?x4x8x8xf32>
    %3 = opset1.Relu(%1) : tensor<?x4x8x8xf32>
    %4 = opset1.Relu(%2) : tensor<?x4x8x8xf32>
    %5 = opset1.Convolution(%3, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x6x4x4xf32>
    %6 = opset1.Convolution(%2, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x6x4x4xf32>
    %7 = opset1.Convolution(%4, %v) {strides = [2, 2], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x6x4x4xf32>
    opset1.Result(%5) {name = "a"}
    opset1.Result(%6) {name = "b"}
    opset1.Result(%7) {name = "c"}
  }
}

// -----

// A Transpose that keeps the shape is removed.
// CHECK-LABEL: moir.model @kept_shape
// CHECK:         %[[T:.*]] = opset1.Transpose
// CHECK:         %[[P:.*]] = opset1.PRelu(%[[T]],
// CHECK:         opset1.Convolution(%[[P]], %w)
builtin.module {
  moir.model @kept_shape {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [2.0]>} : tensor<1x1x1xf32>
    %0, %1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x1x1xf32>, tensor<1x1x1xf32>
    %2 = opset1.Add(%1, %0) : tensor<1x1x1xf32>
    %3 = opset1.Transpose(%2, %order) : tensor<1x1x1xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [2], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x1xf32>
    opset1.Result(%4) {name = "y"}
  }
}
