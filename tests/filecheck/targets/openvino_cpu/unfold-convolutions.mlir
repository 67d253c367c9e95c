// RUN: moir-opt %s -p unfold-convolutions --verify-each --split-input-file | filecheck %s

// Convolutions with filters of unknown sizes: are not compiled.
// CHECK-LABEL: moir.model @unknown_filters
// CHECK:           opset1.MatMul(%110, %105) : tensor<?x1x?x?xf32>
// CHECK-NOT:       opset1.Convolution(
builtin.module {
  moir.model @unknown_filters {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?x?x?xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<?x?x?x?xf32>
    %2 = opset1.Convolution(%0, %1) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x?x?x?xf32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// GroupConvolutionBackpropData of one group with computed filters: is not compiled.
// CHECK-LABEL: moir.model @single_group
// CHECK:           opset15.Squeeze(%1, %2) : tensor<2x1x2xf32>
// CHECK:           opset1.ConvolutionBackpropData(%0, %3) {output_padding = [0], strides = [1], pads_begin = [0], pads_end = [0], dilations = [1]} : tensor<1x1x4xf32>
// CHECK-NOT:       opset1.GroupConvolutionBackpropData(
builtin.module {
  moir.model @single_group {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x2x3xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1x2x1x2xf32>
    %2 = opset1.GroupConvolutionBackpropData(%0, %1) {output_padding = [0], strides = [1], pads_begin = [0], pads_end = [0], dilations = [1]} : tensor<1x1x4xf32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// ConvolutionBackpropData of data of known sizes to computed ones: is not compiled.
// CHECK-LABEL: moir.model @computed_sizes
// CHECK:           opset1.ConvolutionBackpropData(%0, %2) {output_padding = [0], strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x4xf32>
// CHECK:           opset8.Slice(%1, %4, %5, %6) : tensor<1xsi64>
// CHECK:           opset12.Pad(%3, %18, %17) {pad_mode = "constant"} : tensor<?x?x?xf32>
// CHECK:           opset8.Slice(%19, %20, %21, %22, %23) : tensor<?x?x?xf32>
builtin.module {
  moir.model @computed_sizes {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x2x3xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1xsi64>
    %2 = opset1.Constant() {value = #moir.data<tensor<2x1x2xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<2x1x2xf32>
    %3 = opset1.ConvolutionBackpropData(%0, %2, %1) {output_padding = [0], strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x1x?xf32>
    opset1.Result(%3) {name = "y0"}
  }
}

// -----

// ConvolutionBackpropData of data of unknown sizes to less than a window: does not run.
// CHECK-LABEL: moir.model @less_than_a_window
// CHECK:           opset8.Slice(%10, %11, %12, %13, %14) : tensor<1x2x4xf32>
// CHECK:           opset12.Pad(%0, %21, %22) {pad_mode = "constant"} : tensor<?x2x?xf32>
// CHECK:           opset1.MatMul(%83, %78) : tensor<?x1x1x?xf32>
// CHECK:           opset8.Slice(%2, %89, %90, %91) : tensor<1xsi64>
// CHECK:           opset12.Pad(%88, %118, %117) {pad_mode = "constant"} : tensor<?x1x?xf32>
// CHECK:           opset8.Slice(%119, %120, %121, %122, %123) : tensor<?x1x?xf32>
// CHECK-NOT:       opset1.ConvolutionBackpropData(
builtin.module {
  moir.model @less_than_a_window {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x2x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2x1x4xf32>, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]>} : tensor<2x1x4xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %3 = opset1.ConvolutionBackpropData(%0, %1, %2) {auto_pad = "same_upper", output_padding = [0], strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x1x2xf32>
    opset1.Result(%3) {name = "y0"}
  }
}
