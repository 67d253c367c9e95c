// RUN: moir-opt %s -p pair-single-channels --verify-each --split-input-file | filecheck %s

// Convolution of an unknown number of images of one channel in a loop, whose result is added to a state: is zero.
// CHECK-LABEL: moir.model @single_channel_loop
// CHECK:           opset12.Pad(%13, %16, %17, %15) {pad_mode = "constant"} : tensor<?x2x?x?xf32>
// CHECK:           opset1.Convolution(%18, %19) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x1x?x?xf32>
// CHECK:           opset1.Add(%10, %20) : tensor<?x1x4x5xf32>
builtin.module {
  moir.model @single_channel_loop {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?x1x?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %2 = opset3.ShapeOf(%0) : tensor<5xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %5 = opset8.Gather(%2, %3, %4) : tensor<1xsi64>
    %6 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 4, 5]>} : tensor<3xsi64>
    %7 = opset1.Concat(%5, %6) {axis = 0} : tensor<4xsi64>
    %8 = opset3.Broadcast(%1, %7) : tensor<?x1x4x5xf32>
    %9 = opset1.TensorIterator(%8, %0) {inputs = [#moir.port<0 back 0>, #moir.port<1 axis 1 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0>]} ({
      %10 = opset1.Parameter() {name = "x1"} : tensor<?x1x4x5xf32>
      %11 = opset1.Parameter() {name = "x2"} : tensor<?x1x1x?x?xf32>
      %12 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
      %13 = opset1.Squeeze(%11, %12) : tensor<?x1x?x?xf32>
      %14 = opset1.Constant() {value = #moir.data<tensor<1x1x2x1xf32>, [1.0, 1.0]>} : tensor<1x1x2x1xf32>
      %15 = opset1.Convolution(%13, %14) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x1x?x?xf32>
      %16 = opset1.Add(%10, %15) : tensor<?x1x4x5xf32>
      opset1.Result(%16) {name = "y0"}
    }) : tensor<?x1x4x5xf32>
    opset1.Result(%9) {name = "y1"}
  }
}
