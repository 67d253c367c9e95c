// RUN: moir-opt %s -p separate-convolution-sums --verify-each --split-input-file | filecheck %s

// A sum with a convolution of one channel, which has a bias.
// CHECK-LABEL: moir.model @one_channel
// CHECK:         %[[BIASED:\d+]] = opset1.Add
// CHECK:         %[[SAME:\d+]] = opset1.PRelu(%[[BIASED]], %{{\d+}}) : tensor<?x8x?xf32>
// CHECK-NEXT:    opset1.Add(%{{\d+}}, %[[SAME]]) : tensor<?x8x?xf32>
builtin.module {
  moir.model @one_channel {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x1x?xf32>
    %1 = opset1.Parameter() {name = "other"} : tensor<?x8x?xf32>
    %2 = opset1.Parameter() {name = "w"} : tensor<8x1x3xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %4 = opset1.Convolution(%0, %2) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x8x?xf32>
    %5 = opset1.Add(%4, %3) : tensor<?x8x?xf32>
    %6 = opset1.Add(%1, %5) : tensor<?x8x?xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----
// The channels of the other value may be broadcast.
// CHECK-LABEL: moir.model @unknown_channels
// CHECK:         %[[CONVOLVED:\d+]] = opset1.Convolution
// CHECK:         opset1.PRelu(%[[CONVOLVED]], %{{\d+}})
builtin.module {
  moir.model @unknown_channels {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x16x?xf32>
    %1 = opset1.Parameter() {name = "other"} : tensor<?x?x?xf32>
    %2 = opset1.Parameter() {name = "w"} : tensor<8x16x3xf32>
    %3 = opset1.Convolution(%0, %2) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x8x?xf32>
    %4 = opset1.Add(%3, %1) : tensor<?x8x?xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----
// Many channels, as many as the other value has.
// CHECK-LABEL: moir.model @equal_channels
// CHECK-NOT:     PRelu
builtin.module {
  moir.model @equal_channels {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x16x?xf32>
    %1 = opset1.Parameter() {name = "other"} : tensor<?x8x?xf32>
    %2 = opset1.Parameter() {name = "w"} : tensor<8x16x3xf32>
    %3 = opset1.Convolution(%0, %2) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x8x?xf32>
    %4 = opset1.Add(%3, %1) : tensor<?x8x?xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----
// Static shapes, and constants.
// CHECK-LABEL: moir.model @static_shapes
// CHECK-NOT:     PRelu
builtin.module {
  moir.model @static_shapes {
    %0 = opset1.Parameter() {name = "x"} : tensor<2x1x5xf32>
    %1 = opset1.Parameter() {name = "other"} : tensor<2x8x3xf32>
    %2 = opset1.Parameter() {name = "w"} : tensor<8x1x3xf32>
    %3 = opset1.Convolution(%0, %2) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<2x8x3xf32>
    %4 = opset1.Add(%3, %1) : tensor<2x8x3xf32>
    opset1.Result(%4) {name = "y"}
  }
}
