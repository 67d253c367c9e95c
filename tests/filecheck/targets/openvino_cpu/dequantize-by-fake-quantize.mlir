// RUN: moir-opt %s -p "dequantize-by-fake-quantize,eliminate-dead" --split-input-file | filecheck %s

// Signed integers of an input that two convolutions read, one of them after a Transpose.
// CHECK-LABEL: moir.model @input
// CHECK:           %[[C:.*]] = opset1.Convert(%x)
// CHECK:           %[[LOW:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-61.5]>}
// CHECK:           %[[HIGH:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [66.0]>}
// CHECK:           %[[Y:.*]] = opset1.FakeQuantize(%[[C]], %{{.*}}, %{{.*}}, %[[LOW]], %[[HIGH]]) {levels = 256
// CHECK:           opset1.Convolution(%[[Y]], %w)
// CHECK:           opset1.Transpose(%[[Y]]
builtin.module {
  moir.model @input {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x2x2xsi8>
    %w = opset1.Parameter() {name = "w"} : tensor<4x2x1x1xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [-5.0]>} : tensor<f32>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %1 = opset1.Convert(%x) {destination_type = f32} : tensor<?x2x2x2xf32>
    %2 = opset1.Subtract(%1, %zero) : tensor<?x2x2x2xf32>
    %3 = opset1.Multiply(%2, %scale) : tensor<?x2x2x2xf32>
    %4 = opset1.Convolution(%3, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x2x2xf32>
    %5 = opset1.Transpose(%3, %order) : tensor<?x2x2x2xf32>
    %6 = opset1.Convolution(%5, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x2x2xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%6) {name = "z"}
  }
}

// -----

// Unsigned integers, and numbers that are added as well.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       FakeQuantize
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x2xui8>
    %s = opset1.Parameter() {name = "s"} : tensor<1x2x2x2xsi8>
    %w = opset1.Parameter() {name = "w"} : tensor<4x2x1x1xf32>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.Convert(%x) {destination_type = f32} : tensor<1x2x2x2xf32>
    %2 = opset1.Multiply(%1, %scale) : tensor<1x2x2x2xf32>
    %3 = opset1.Convolution(%2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x4x2x2xf32>
    %4 = opset1.Convert(%s) {destination_type = f32} : tensor<1x2x2x2xf32>
    %5 = opset1.Multiply(%4, %scale) : tensor<1x2x2x2xf32>
    %6 = opset1.Convolution(%5, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x4x2x2xf32>
    %7 = opset1.Add(%5, %2) : tensor<1x2x2x2xf32>
    opset1.Result(%3) {name = "a"}
    opset1.Result(%6) {name = "b"}
    opset1.Result(%7) {name = "c"}
  }
}
