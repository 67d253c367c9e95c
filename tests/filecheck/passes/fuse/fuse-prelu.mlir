// RUN: moir-opt %s -p fuse-prelu,eliminate-dead | filecheck %s

// max(x, slope * x), the slope at most 1.
// CHECK-LABEL: moir.model @maximum {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.25]>} : tensor<1xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.PRelu(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// The slope halves x - |x|.
// CHECK-LABEL: moir.model @doubled {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [0.25]>} : tensor<1xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.PRelu(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// A selection by the sign, slopes of each column.
// CHECK-LABEL: moir.model @selected {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1x8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<1x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.PRelu(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// max(x, slope * x), the slope above 1.
// CHECK-LABEL: moir.model @steep {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Multiply(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Maximum(%[[V2]], %[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

// A selection by another threshold.
// CHECK-LABEL: moir.model @other_threshold {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Greater(%[[V0]], %[[V1]]) : tensor<?x8xi1>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Multiply(%[[V0]], %[[V3]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Select(%[[V2]], %[[V0]], %[[V4]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V5]]) {name = "y"}
// CHECK-NEXT:  }

// Slopes that give the result another shape.
// CHECK-LABEL: moir.model @broadcast {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]>} : tensor<8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Multiply(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Maximum(%[[V2]], %[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @maximum {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Maximum(%2, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @doubled {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Relu(%0) : tensor<?x8xf32>
    %2 = opset1.Abs(%0) : tensor<?x8xf32>
    %3 = opset1.Subtract(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.125]>} : tensor<f32>
    %5 = opset1.Multiply(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Add(%1, %5) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
  moir.model @selected {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %2 = opset1.Greater(%0, %1) : tensor<?x8xi1>
    %3 = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<8xf32>
    %4 = opset1.Multiply(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Select(%2, %0, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @steep {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.5]>} : tensor<f32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Maximum(%2, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @other_threshold {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %2 = opset1.Greater(%0, %1) : tensor<?x8xi1>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %4 = opset1.Multiply(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Select(%2, %0, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @broadcast {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5]>} : tensor<8xf32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Maximum(%2, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}
