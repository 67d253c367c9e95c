// RUN: moir-opt %s -p lower-tflite --split-input-file | filecheck %s

// Operators that no converter writes any more, or only where patterns fit.
// CHECK-LABEL: @simple
moir.model @simple {
  %x = opset1.Parameter() {name = "x"} : tensor<2x1x3xf32>
  // CHECK: opset1.Clamp({{.*}}) {min = 0.0, max = 1.0
  %0 = tflite.RELU_0_TO_1(%x) : tensor<2x1x3xf32>
  // CHECK: opset1.Clamp({{.*}}) {min = -1.0, max = 1.0
  %1 = tflite.RELU_N1_TO_1(%0) : tensor<2x1x3xf32>
  // CHECK: Squeeze({{.*}}) : tensor<2x3xf32>
  %2 = tflite.SQUEEZE(%1) {squeeze_dims = [1]} : tensor<2x3xf32>
  // CHECK: opset1.NormalizeL2
  %3 = tflite.L2_NORMALIZATION(%2) {fused_activation_function = "NONE"} : tensor<2x3xf32>
  // CHECK: opset8.Softmax
  %4 = tflite.SOFTMAX(%3) {beta = 1.0} : tensor<2x3xf32>
  // CHECK: opset1.Erf
  %5 = tflite.FlexErf(%4) {T = f32} : tensor<2x3xf32>
  // CHECK: opset1.Add
  // CHECK: opset1.Select
  %6 = tflite.ADD(%5, %5) {fused_activation_function = "SIGN_BIT"} : tensor<2x3xf32>
  // CHECK: opset1.Tanh
  %7 = tflite.STABLEHLO_TANH(%6) : tensor<2x3xf32>
  // CHECK: opset1.Transpose
  %8 = tflite.STABLEHLO_TRANSPOSE(%7) {permutation = [1, 0]} : tensor<3x2xf32>
  // CHECK: opset1.Reshape({{.*}}) {special_zero = false{{.*}}} : tensor<6xf32>
  %9 = tflite.STABLEHLO_RESHAPE(%8) : tensor<6xf32>
  opset1.Result(%9) {name = "y"}
}

// -----

// What nothing lowers stays.
// CHECK-LABEL: @unknown
moir.model @unknown {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  // CHECK: tflite.LSH_PROJECTION
  %y = tflite.LSH_PROJECTION(%x) : tensor<2xf32>
  opset1.Result(%y) {name = "y"}
}
