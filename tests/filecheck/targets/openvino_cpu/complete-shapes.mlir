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
