// RUN: moir-opt %s -p step-through-sequences --verify-each --split-input-file | filecheck %s

// All lengths are the number of steps that the model has now: the plugin's own sequence is right.
// CHECK-LABEL: moir.model @full
// CHECK:           opset5.RNNSequence
// CHECK-NOT:       opset1.TensorIterator
builtin.module {
  moir.model @full {
    %x = opset1.Parameter() {name = "x"} : tensor<?x5x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<1xsi64>
    %five = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [5]>} : tensor<1xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %lengths = opset3.Broadcast(%five, %n) {mode = "numpy"} : tensor<?xsi64>
    %y, %ho = opset5.RNNSequence(%x, %h, %lengths, %w, %w, %b) {direction = "forward", hidden_size = 1, activations = ["tanh"], name = "r"} : tensor<?x1x5x1xf32>, tensor<?x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// Shorter sequences are computed step by step.
// CHECK-LABEL: moir.model @shorter
// CHECK-NOT:     opset5.RNNSequence
// CHECK:         opset1.TensorIterator
builtin.module {
  moir.model @shorter {
    %x = opset1.Parameter() {name = "x"} : tensor<?x5x1xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %lengths = opset3.Broadcast(%four, %n) {mode = "numpy"} : tensor<?xsi64>
    %y, %ho = opset5.RNNSequence(%x, %h, %lengths, %w, %w, %b) {direction = "forward", hidden_size = 1, activations = ["tanh"], name = "r"} : tensor<?x1x5x1xf32>, tensor<?x1x1xf32>
    opset1.Result(%y) {name = "out"}
  }
}
