// RUN: moir-opt %s -p fuse-unrolled-cells --split-input-file | filecheck %s

// Two steps from a given state, whose data are parts of one tensor; the states are joined again.
// CHECK-LABEL: moir.model @steps
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:         %[[H:.*]] = opset1.Parameter() {name = "h"}
// CHECK:         %[[Y:.*]], %[[E:.*]] = opset5.RNNSequence(%[[X]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {direction = "forward", hidden_size = 3}
// CHECK-NOT:     opset1.Split
// CHECK:         %[[S:.*]] = opset15.Squeeze(%[[Y]], %{{.*}}) {name = "joined"} : tensor<4x2x3xf32>
// CHECK:         opset1.Result(%[[S]])
builtin.module {
  moir.model @steps {
    %x = opset1.Parameter() {name = "x"} : tensor<4x2x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<4x3xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>} : tensor<3x3xf32>
    %0, %1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<4x1x2xf32>, tensor<4x1x2xf32>
    %x0 = opset15.Squeeze(%0, %axes) : tensor<4x2xf32>
    %x1 = opset15.Squeeze(%1, %axes) : tensor<4x2xf32>
    %2 = opset1.MatMul(%x0, %w) : tensor<4x3xf32>
    %3 = opset1.MatMul(%h, %r) : tensor<4x3xf32>
    %4 = opset1.Add(%2, %3) : tensor<4x3xf32>
    %h0 = opset1.Tanh(%4) : tensor<4x3xf32>
    %5 = opset1.MatMul(%x1, %w) : tensor<4x3xf32>
    %6 = opset1.MatMul(%h0, %r) : tensor<4x3xf32>
    %7 = opset1.Add(%5, %6) : tensor<4x3xf32>
    %h1 = opset1.Tanh(%7) : tensor<4x3xf32>
    %8 = opset1.Unsqueeze(%h0, %axes) : tensor<4x1x3xf32>
    %9 = opset1.Unsqueeze(%h1, %axes) : tensor<4x1x3xf32>
    %10 = opset1.Concat(%8, %9) {axis = 1, name = "joined"} : tensor<4x2x3xf32>
    opset1.Result(%10) {name = "y"}
  }
}

// -----

// A first step without a state begins with zeros. Of the sequence only the last state is read.
// CHECK-LABEL: moir.model @zeros
// CHECK:         %[[Y:.*]], %[[E:.*]] = opset5.RNNSequence
// CHECK:         %[[L:.*]] = opset15.Squeeze(%[[E]], %{{.*}}) {name = "last"} : tensor<4x3xf32>
// CHECK:         opset1.Result(%[[L]])
builtin.module {
  moir.model @zeros {
    %x0 = opset1.Parameter() {name = "x0"} : tensor<4x2xf32>
    %x1 = opset1.Parameter() {name = "x1"} : tensor<4x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>} : tensor<3x3xf32>
    %2 = opset1.MatMul(%x0, %w) : tensor<4x3xf32>
    %h0 = opset1.Tanh(%2) : tensor<4x3xf32>
    %5 = opset1.MatMul(%x1, %w) : tensor<4x3xf32>
    %6 = opset1.MatMul(%h0, %r) : tensor<4x3xf32>
    %7 = opset1.Add(%5, %6) : tensor<4x3xf32>
    %h1 = opset1.Tanh(%7) {name = "last"} : tensor<4x3xf32>
    opset1.Result(%h1) {name = "y"}
  }
}

// -----

// The data of the second step are computed from the state of the first.
// CHECK-LABEL: moir.model @feedback
// CHECK-NOT:     RNNSequence
// CHECK:         opset1.Result
builtin.module {
  moir.model @feedback {
    %x0 = opset1.Parameter() {name = "x0"} : tensor<4x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<4x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [9.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0]>} : tensor<3x3xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>} : tensor<3x3xf32>
    %2 = opset1.MatMul(%x0, %w) : tensor<4x3xf32>
    %3 = opset1.MatMul(%h, %r) : tensor<4x3xf32>
    %4 = opset1.Add(%2, %3) : tensor<4x3xf32>
    %h0 = opset1.Tanh(%4) : tensor<4x3xf32>
    %x1 = opset1.Relu(%h0) : tensor<4x3xf32>
    %5 = opset1.MatMul(%x1, %w) : tensor<4x3xf32>
    %6 = opset1.MatMul(%h0, %r) : tensor<4x3xf32>
    %7 = opset1.Add(%5, %6) : tensor<4x3xf32>
    %h1 = opset1.Tanh(%7) : tensor<4x3xf32>
    opset1.Result(%h1) {name = "y"}
  }
}

// -----

// The steps have different weights of the state: two layers of a perceptron, for instance.
// CHECK-LABEL: moir.model @other_weights
// CHECK-NOT:     RNNSequence
// CHECK:         opset1.Result
builtin.module {
  moir.model @other_weights {
    %x0 = opset1.Parameter() {name = "x0"} : tensor<4x2xf32>
    %x1 = opset1.Parameter() {name = "x1"} : tensor<4x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<4x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>} : tensor<3x3xf32>
    %q = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0]>} : tensor<3x3xf32>
    %2 = opset1.MatMul(%x0, %w) : tensor<4x3xf32>
    %3 = opset1.MatMul(%h, %q) : tensor<4x3xf32>
    %4 = opset1.Add(%2, %3) : tensor<4x3xf32>
    %h0 = opset1.Tanh(%4) : tensor<4x3xf32>
    %5 = opset1.MatMul(%x1, %w) : tensor<4x3xf32>
    %6 = opset1.MatMul(%h0, %r) : tensor<4x3xf32>
    %7 = opset1.Add(%5, %6) : tensor<4x3xf32>
    %h1 = opset1.Tanh(%7) : tensor<4x3xf32>
    opset1.Result(%h1) {name = "y"}
  }
}

// -----

// The data have an unknown number of rows, the state before the first step has four.
// CHECK-LABEL: moir.model @unknown_batch
// CHECK-NOT:     RNNSequence
// CHECK:         opset1.Result
builtin.module {
  moir.model @unknown_batch {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<4x3xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]>} : tensor<3x3xf32>
    %0, %1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x1x2xf32>, tensor<?x1x2xf32>
    %x0 = opset15.Squeeze(%0, %axes) : tensor<?x2xf32>
    %x1 = opset15.Squeeze(%1, %axes) : tensor<?x2xf32>
    %2 = opset1.MatMul(%x0, %w) : tensor<?x3xf32>
    %3 = opset1.MatMul(%h, %r) : tensor<4x3xf32>
    %4 = opset1.Add(%2, %3) : tensor<?x3xf32>
    %h0 = opset1.Tanh(%4) : tensor<?x3xf32>
    %5 = opset1.MatMul(%x1, %w) : tensor<?x3xf32>
    %6 = opset1.MatMul(%h0, %r) : tensor<?x3xf32>
    %7 = opset1.Add(%5, %6) : tensor<?x3xf32>
    %h1 = opset1.Tanh(%7) : tensor<?x3xf32>
    %8 = opset1.Unsqueeze(%h0, %axes) : tensor<?x1x3xf32>
    %9 = opset1.Unsqueeze(%h1, %axes) : tensor<?x1x3xf32>
    %10 = opset1.Concat(%8, %9) {axis = 1, name = "joined"} : tensor<?x2x3xf32>
    opset1.Result(%10) {name = "y"}
  }
}
