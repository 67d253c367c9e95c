// RUN: moir-opt %s -p compute-gates --verify-each --split-input-file | filecheck %s

// The plugin has no cell with this activation.
// CHECK-LABEL: moir.model @cell
// CHECK:           %0 = opset1.MatMul(%x, %w) {transpose_b = true} : tensor<2x1xf32>
// CHECK-NEXT:      %1 = opset1.Add(%0, %b) : tensor<2x1xf32>
// CHECK-NEXT:      %2 = opset1.MatMul(%h, %w) {transpose_b = true} : tensor<2x1xf32>
// CHECK-NEXT:      %3 = opset1.Add(%2, %1) : tensor<2x1xf32>
// CHECK-NEXT:      %4 = opset1.Clamp(%3) {min = -2.0, max = 2.0} : tensor<2x1xf32>
// CHECK:           opset1.Minimum({{.*}}) {name = "r"}
// CHECK-NOT:       opset1.RNNCell
builtin.module {
  moir.model @cell {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<2x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.0]>} : tensor<1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.0]>} : tensor<1xf32>
    %y = opset1.RNNCell(%x, %h, %w, %w, %b) {hidden_size = 1, activations = ["hardsigmoid"], clip = 2.0, name = "r"} : tensor<2x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// The inputs of all steps are multiplied at once; lengths that are the number of steps are not compared.
// CHECK-LABEL: moir.model @full
// CHECK:           opset1.MatMul(%x, {{.*}}) {transpose_b = true} : tensor<2x5x1xf32>
// CHECK:           opset1.TensorIterator
// CHECK-NOT:       opset1.Less
builtin.module {
  moir.model @full {
    %x = opset1.Parameter() {name = "x"} : tensor<2x5x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<2x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %lengths = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [5, 5]>} : tensor<2xsi64>
    %y, %ho = opset5.RNNSequence(%x, %h, %lengths, %w, %w, %b) {direction = "forward", hidden_size = 1, activations = ["hardsigmoid"], name = "r"} : tensor<2x1x5x1xf32>, tensor<2x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @shorter
// CHECK:           opset1.Less
// CHECK:           opset1.TensorIterator
// CHECK:             opset1.Select
// CHECK-NOT:     opset5.GRUSequence
builtin.module {
  moir.model @shorter {
    %x = opset1.Parameter() {name = "x"} : tensor<2x5x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<2x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<1x3x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x4xf32>, [0.0, 1.0, 2.0, 3.0]>} : tensor<1x4xf32>
    %lengths = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [5, 4]>} : tensor<2xsi64>
    %y, %ho = opset5.GRUSequence(%x, %h, %lengths, %w, %w, %b) {direction = "reverse", hidden_size = 1, linear_before_reset = true, activations = ["hardsigmoid", "tanh"], name = "r"} : tensor<2x1x5x1xf32>, tensor<2x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @usual
// CHECK:           opset1.RNNCell
builtin.module {
  moir.model @usual {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<2x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.0]>} : tensor<1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.0]>} : tensor<1xf32>
    %y = opset1.RNNCell(%x, %h, %w, %w, %b) {hidden_size = 1, activations = ["tanh"], name = "r"} : tensor<2x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}
