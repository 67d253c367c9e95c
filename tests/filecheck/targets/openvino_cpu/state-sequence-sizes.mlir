// RUN: moir-opt %s -p state-sequence-sizes --split-input-file | filecheck %s

// The number of rows is that of the states, the size of the inputs that of the weights.
// CHECK-LABEL: moir.model @rows
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 0, 4]>} : tensor<3xsi64>
// CHECK-NEXT:      %1 = opset1.Reshape(%x, %0) {special_zero = true} : tensor<2x?x4xf32>
// CHECK-NEXT:      %y, %ho = opset5.RNNSequence(%1, %h, %n, %w, %r, %b)
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<2x1x1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi64>
    %w = opset1.Parameter() {name = "w"} : tensor<1x1x4xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<1x1x1xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<1x1xf32>
    %y, %ho = opset5.RNNSequence(%x, %h, %n, %w, %r, %b) {direction = "forward", hidden_size = 1, activations = ["tanh"], name = "s"} : tensor<2x1x?x1xf32>, tensor<2x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// Weights of three gates, and a bias of four.
// CHECK-LABEL: moir.model @weights
// CHECK:           opset1.Reshape(%w, {{.*}}) {special_zero = false} : tensor<2x6x?xf32>
// CHECK:           opset1.Reshape(%r, {{.*}}) {special_zero = true} : tensor<2x6x2xf32>
// CHECK:           opset1.Reshape(%b, {{.*}}) {special_zero = true} : tensor<2x8xf32>
builtin.module {
  moir.model @weights {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x2x2xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi64>
    %w = opset1.Parameter() {name = "w"} : tensor<*xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<?x?x?xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?x?xf32>
    %y, %ho = opset5.GRUSequence(%x, %h, %n, %w, %r, %b) {direction = "bidirectional", hidden_size = 2, linear_before_reset = true, activations = ["sigmoid", "tanh"], name = "s"} : tensor<?x2x?x2xf32>, tensor<?x2x2xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @unknown
// CHECK-NOT:       opset1.Reshape
builtin.module {
  moir.model @unknown {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x4xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi64>
    %w = opset1.Parameter() {name = "w"} : tensor<1x1x4xf32>
    %r = opset1.Parameter() {name = "r"} : tensor<1x1x1xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<1x1xf32>
    %y, %ho = opset5.RNNSequence(%x, %h, %n, %w, %r, %b) {direction = "forward", hidden_size = 1, activations = ["tanh"], name = "s"} : tensor<?x1x?x1xf32>, tensor<?x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}
