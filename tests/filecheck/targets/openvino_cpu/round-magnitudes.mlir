// RUN: moir-opt %s -p round-magnitudes --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @quantized
// CHECK:           %[[P:[a-z0-9]+]] = opset1.Multiply
// CHECK:           %[[A:[0-9]+]] = opset1.Abs(%[[P]])
// CHECK:           %[[R:[0-9]+]] = opset5.Round(%[[A]]) {mode = "half_away_from_zero"}
// CHECK:           %[[S:[0-9]+]] = opset1.Sign(%[[P]])
// CHECK:           opset1.Multiply(%[[S]], %[[R]]) {name = "r"} : tensor<2x4xf32>
builtin.module {
  moir.model @quantized {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x4xf32>
    %p = opset1.MatMul(%q, %w) : tensor<2x4xf32>
    %s = opset1.Multiply(%p, %high) : tensor<2x4xf32>
    %1 = opset5.Round(%s) {mode = "half_away_from_zero", name = "r"} : tensor<2x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// The other mode is right.
// CHECK-LABEL: moir.model @even
// CHECK-NOT:       Abs
// CHECK:           opset5.Round
builtin.module {
  moir.model @even {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x4xf32>
    %p = opset1.MatMul(%q, %w) : tensor<2x4xf32>
    %1 = opset5.Round(%p) : tensor<2x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Nothing is quantized.
// CHECK-LABEL: moir.model @floats
// CHECK-NOT:       Abs
// CHECK:           opset5.Round
builtin.module {
  moir.model @floats {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %p = opset1.MatMul(%x, %w) : tensor<2x4xf32>
    %1 = opset5.Round(%p) {mode = "half_away_from_zero"} : tensor<2x4xf32>
    opset1.Result(%1) {name = "y"}
  }
}
