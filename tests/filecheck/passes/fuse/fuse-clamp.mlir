// RUN: moir-opt %s -p fuse-clamp,eliminate-dead | filecheck %s

// A lower and an upper limit.
// CHECK-LABEL: moir.model @both_limits {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Clamp(%[[V0]]) {min = -1.0, max = 2.0, name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// A chain of limits is one.
// CHECK-LABEL: moir.model @chain {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Clamp(%[[V0]]) {min = 2.0, max = 6.0, name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// Zero as the lower limit.
// CHECK-LABEL: moir.model @relu {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Relu(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// A lower limit above the upper one.
// CHECK-LABEL: moir.model @crossed {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Maximum(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Minimum(%[[V2]], %[[V3]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// A limit for each column.
// CHECK-LABEL: moir.model @several {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Maximum(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [9.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Minimum(%[[V2]], %[[V3]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// Integers.
// CHECK-LABEL: moir.model @integers {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xsi64>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Maximum(%[[V0]], %[[V1]]) : tensor<?x8xsi64>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [5]>} : tensor<si64>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Minimum(%[[V2]], %[[V3]]) {name = "fused"} : tensor<?x8xsi64>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// Limits of Selects.
// CHECK-LABEL: moir.model @selects {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Clamp(%[[V0]]) {min = -1.0, max = 2.0, name = "fused"} : tensor<?x8xf32>

builtin.module {
  moir.model @both_limits {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %2 = opset1.Maximum(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %4 = opset1.Minimum(%2, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @chain {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Relu(%0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %3 = opset1.Maximum(%1, %2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %5 = opset1.Minimum(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Clamp(%5) {min = 2.0, max = 9.0, name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
  moir.model @relu {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %2 = opset1.Maximum(%0, %1) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%2) {name = "y"}
  }
  moir.model @crossed {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %2 = opset1.Maximum(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %4 = opset1.Minimum(%2, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @several {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<8xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<8xf32>
    %2 = opset1.Maximum(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [9.0]>} : tensor<f32>
    %4 = opset1.Minimum(%2, %3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @integers {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xsi64>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %2 = opset1.Maximum(%0, %1) : tensor<?x8xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<si64>, [5]>} : tensor<si64>
    %4 = opset1.Minimum(%2, %3) {name = "fused"} : tensor<?x8xsi64>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @selects {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %3 = opset1.Less(%0, %1) : tensor<?x8xi1>
    %4 = opset1.Select(%3, %1, %0) : tensor<?x8xf32>
    %5 = opset1.Greater(%0, %2) : tensor<?x8xi1>
    %6 = opset1.Select(%5, %2, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
}
