// RUN: moir-opt %s -p fuse-normalize-l2,eliminate-dead | filecheck %s

// Epsilon is added to the sum.
// CHECK-LABEL: moir.model @added {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset1.NormalizeL2(%[[V0]], %[[V1]]) {eps = 0.5, eps_mode = "add", name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// The norm is at least epsilon, and repeated for each element.
// CHECK-LABEL: moir.model @least_norm {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset1.NormalizeL2(%[[V0]], %[[V1]]) {eps = 0.25, eps_mode = "max", name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// The norm is repeated to another shape.
// CHECK-LABEL: moir.model @another_shape {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset4.ReduceL2(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Maximum(%[[V2]], %[[V3]]) : tensor<?x1xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 8]>} : tensor<2xsi64>
// CHECK-NEXT:    %[[V6:.*]] = opset3.Broadcast(%[[V4]], %[[V5]]) : tensor<4x8xf32>
// CHECK-NEXT:    %[[V7:.*]] = opset1.Divide(%[[V0]], %[[V6]]) {name = "fused"} : tensor<4x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V7]]) {name = "y"}
// CHECK-NEXT:  }

// The square of epsilon is no f32 number.
// CHECK-LABEL: moir.model @underflow {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset4.ReduceL2(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-30]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Maximum(%[[V2]], %[[V3]]) : tensor<?x1xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Divide(%[[V0]], %[[V4]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V5]]) {name = "y"}
// CHECK-NEXT:  }

// The reduced dimension is not kept.
// CHECK-LABEL: moir.model @dropped_dimension {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<8x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Multiply(%[[V0]], %[[V0]]) : tensor<8x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V3:.*]] = opset1.ReduceSum(%[[V1]], %[[V2]]) : tensor<8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Add(%[[V3]], %[[V4]]) : tensor<8xf32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Sqrt(%[[V5]]) : tensor<8xf32>
// CHECK-NEXT:    %[[V7:.*]] = opset1.Divide(%[[V0]], %[[V6]]) {name = "fused"} : tensor<8x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V7]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @added {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Multiply(%0, %0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %3 = opset1.ReduceSum(%1, %2) {keep_dims = true} : tensor<?x1xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %5 = opset1.Add(%3, %4) : tensor<?x1xf32>
    %6 = opset1.Sqrt(%5) : tensor<?x1xf32>
    %7 = opset1.Divide(%0, %6) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%7) {name = "y"}
  }
  moir.model @least_norm {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %2 = opset4.ReduceL2(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %4 = opset1.Maximum(%2, %3) : tensor<?x1xf32>
    %5 = opset3.ShapeOf(%0) : tensor<2xsi64>
    %6 = opset3.Broadcast(%4, %5) : tensor<?x8xf32>
    %7 = opset1.Divide(%0, %6) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%7) {name = "y"}
  }
  moir.model @another_shape {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %2 = opset4.ReduceL2(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %4 = opset1.Maximum(%2, %3) : tensor<?x1xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 8]>} : tensor<2xsi64>
    %6 = opset3.Broadcast(%4, %5) : tensor<4x8xf32>
    %7 = opset1.Divide(%0, %6) {name = "fused"} : tensor<4x8xf32>
    opset1.Result(%7) {name = "y"}
  }
  moir.model @underflow {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %2 = opset4.ReduceL2(%0, %1) {keep_dims = true} : tensor<?x1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-30]>} : tensor<f32>
    %4 = opset1.Maximum(%2, %3) : tensor<?x1xf32>
    %5 = opset1.Divide(%0, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @dropped_dimension {
    %0 = opset1.Parameter() {name = "x"} : tensor<8x8xf32>
    %1 = opset1.Multiply(%0, %0) : tensor<8x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %3 = opset1.ReduceSum(%1, %2) : tensor<8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %5 = opset1.Add(%3, %4) : tensor<8xf32>
    %6 = opset1.Sqrt(%5) : tensor<8xf32>
    %7 = opset1.Divide(%0, %6) {name = "fused"} : tensor<8x8xf32>
    opset1.Result(%7) {name = "y"}
  }
}
