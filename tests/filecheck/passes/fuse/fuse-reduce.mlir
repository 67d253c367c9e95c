// RUN: moir-opt %s -p fuse-reduce,eliminate-dead | filecheck %s

// The root of a sum of squares.
// CHECK-LABEL: moir.model @l2 {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset4.ReduceL2(%[[V0]], %[[V1]]) {name = "fused"} : tensor<?xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// A sum of absolute values.
// CHECK-LABEL: moir.model @l1 {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V2:.*]] = opset4.ReduceL1(%[[V0]], %[[V1]]) {keep_dims = true, name = "fused"} : tensor<?x1xf32>
// CHECK-NEXT:    opset1.Result(%[[V2]]) {name = "y"}
// CHECK-NEXT:  }

// A sum of cubes.
// CHECK-LABEL: moir.model @cubes {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Power(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V4:.*]] = opset1.ReduceSum(%[[V2]], %[[V3]]) : tensor<?xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Sqrt(%[[V4]]) {name = "fused"} : tensor<?xf32>
// CHECK-NEXT:    opset1.Result(%[[V5]]) {name = "y"}
// CHECK-NEXT:  }

// Integers.
// CHECK-LABEL: moir.model @integers {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xsi32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Abs(%[[V0]]) : tensor<?x8xsi32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
// CHECK-NEXT:    %[[V3:.*]] = opset1.ReduceSum(%[[V1]], %[[V2]]) {name = "fused"} : tensor<?xsi32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @l2 {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %2 = opset1.Power(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset1.ReduceSum(%2, %3) : tensor<?xf32>
    %5 = opset1.Sqrt(%4) {name = "fused"} : tensor<?xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @l1 {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Abs(%0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %3 = opset1.ReduceSum(%1, %2) {keep_dims = true, name = "fused"} : tensor<?x1xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @cubes {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %2 = opset1.Power(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset1.ReduceSum(%2, %3) : tensor<?xf32>
    %5 = opset1.Sqrt(%4) {name = "fused"} : tensor<?xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @integers {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xsi32>
    %1 = opset1.Abs(%0) : tensor<?x8xsi32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %3 = opset1.ReduceSum(%1, %2) {name = "fused"} : tensor<?xsi32>
    opset1.Result(%3) {name = "y"}
  }
}
