// RUN: moir-opt %s -p complete-shapes --verify-each --split-input-file | filecheck %s

// Broadcast to a scalar, by a target that the runtime folds: ends the process.
// CHECK-LABEL: moir.model @broadcast_scalar
// CHECK:           opset1.Reshape(%0, %5) {special_zero = false} : tensor<f32>
// CHECK-NOT:       opset3.Broadcast(
builtin.module {
  moir.model @broadcast_scalar {
    %0 = opset1.Parameter() {name = "x0"} : tensor<f32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 1.0]>} : tensor<2xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %3 = opset1.ReduceSum(%1, %2) : tensor<f32>
    %4 = opset3.ShapeOf(%3) : tensor<0xsi64>
    %5 = opset3.Broadcast(%0, %4) : tensor<f32>
    opset1.Result(%5) {name = "y0"}
  }
}

// -----

// Data of a recurrent sequence that a Concat reads, too.
// CHECK-LABEL: moir.model @sequence
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[X:.*]])
// CHECK:         %[[T:.*]] = opset1.Transpose(%[[M]],
// CHECK:         opset5.RNNSequence(%[[T]],
builtin.module {
  moir.model @sequence {
    %p = opset1.Parameter() {name = "x"} : tensor<2x3x1xf32>
    %x = opset1.Relu(%p) : tensor<2x3x1xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %h = opset1.Constant() {value = #moir.data<tensor<3x1x1xf32>, [0.0, 0.0, 0.0]>} : tensor<3x1x1xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 2, 2]>} : tensor<3xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %0 = opset1.Transpose(%x, %order) : tensor<3x2x1xf32>
    %1, %2 = opset5.RNNSequence(%0, %h, %n, %w, %w, %b) {direction = "forward", hidden_size = 1} : tensor<3x1x2x1xf32>, tensor<3x1x1xf32>
    %3 = opset1.Concat(%x, %x) {axis = 0} : tensor<4x3x1xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}
