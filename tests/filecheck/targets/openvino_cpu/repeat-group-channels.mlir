// RUN: moir-opt %s -p repeat-group-channels --verify-each --split-input-file | filecheck %s

// Channels are repeated, so that each filter has its own.
// CHECK-LABEL: moir.model @several_filters_of_one_channel
// CHECK:         %[[INDICES:\d+]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>}
// CHECK:         opset8.Gather(%{{\d+}}, %[[INDICES]], %{{\d+}}) : tensor<?x4x?xf32>
// CHECK:         opset1.Reshape({{.*}}) {special_zero = false} : tensor<4x1x1x2xf32>
// CHECK-NEXT:    opset1.GroupConvolution
builtin.module {
  moir.model @several_filters_of_one_channel {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x2x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %3 = opset1.FakeQuantize(%0, %1, %2, %1, %2) {levels = 256} : tensor<?x2x?xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<2x2x1x2xsi8>, [1, 2, 3, 4, 5, 6, 7, 8]>} : tensor<2x2x1x2xsi8>
    %5 = opset1.Convert(%4) {destination_type = f32} : tensor<2x2x1x2xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %7 = opset1.Multiply(%5, %6) : tensor<2x2x1x2xf32>
    %8 = opset1.GroupConvolution(%3, %7) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x4x?xf32>
    opset1.Result(%8) {name = "y"}
  }
}

// -----
// Sums of more groups are right.
// CHECK-LABEL: moir.model @three_groups
// CHECK-NOT:     opset8.Gather
builtin.module {
  moir.model @three_groups {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x3x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %3 = opset1.FakeQuantize(%0, %1, %2, %1, %2) {levels = 256} : tensor<?x3x?xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<3x2x1x2xsi8>, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]>} : tensor<3x2x1x2xsi8>
    %5 = opset1.Convert(%4) {destination_type = f32} : tensor<3x2x1x2xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %7 = opset1.Multiply(%5, %6) : tensor<3x2x1x2xf32>
    %8 = opset1.GroupConvolution(%3, %7) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x6x?xf32>
    opset1.Result(%8) {name = "y"}
  }
}

// -----
// Data that are not quantized are computed in floats.
// CHECK-LABEL: moir.model @data_of_floats
// CHECK-NOT:     opset8.Gather
builtin.module {
  moir.model @data_of_floats {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x2x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %3 = opset1.FakeQuantize(%0, %1, %2, %1, %2) {levels = 256} : tensor<?x2x?xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<2x2x1x2xsi8>, [1, 2, 3, 4, 5, 6, 7, 8]>} : tensor<2x2x1x2xsi8>
    %5 = opset1.Convert(%4) {destination_type = f32} : tensor<2x2x1x2xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %7 = opset1.Multiply(%5, %6) : tensor<2x2x1x2xf32>
    %8 = opset1.GroupConvolution(%0, %7) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<?x4x?xf32>
    opset1.Result(%8) {name = "y"}
  }
}
