// RUN: moir-opt %s -p fuse-soft-plus,eliminate-dead | filecheck %s

// ln(1 + exp(x)).
// CHECK-LABEL: moir.model @soft_plus {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.SoftPlus(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// ln(2 + exp(x)).
// CHECK-LABEL: moir.model @other_number {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Add(%[[V1]], %[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Log(%[[V3]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// The one is a vector: if x is a scalar the result has a dimension more.
// CHECK-LABEL: moir.model @unknown_rank {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<*xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<*xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Add(%[[V1]], %[[V2]]) : tensor<*xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Log(%[[V3]]) {name = "fused"} : tensor<*xf32>
// CHECK-NEXT:    opset1.Result(%[[V4]]) {name = "y"}
// CHECK-NEXT:  }

// The logarithm of a sum of exponentials, of x and 0.
// CHECK-LABEL: moir.model @limited {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.SoftPlus(%[[V0]]) {name = "fused"} : tensor<?x8xf32>

builtin.module {
  moir.model @soft_plus {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %3 = opset1.Add(%2, %1) : tensor<?x8xf32>
    %4 = opset1.Log(%3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @other_number {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %3 = opset1.Add(%1, %2) : tensor<?x8xf32>
    %4 = opset1.Log(%3) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @unknown_rank {
    %0 = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %1 = opset1.Exp(%0) : tensor<*xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %3 = opset1.Add(%1, %2) : tensor<*xf32>
    %4 = opset1.Log(%3) {name = "fused"} : tensor<*xf32>
    opset1.Result(%4) {name = "y"}
  }
  moir.model @limited {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Abs(%0) : tensor<?x8xf32>
    %2 = opset1.Negative(%1) : tensor<?x8xf32>
    %3 = opset1.Exp(%2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %5 = opset1.Add(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Log(%5) : tensor<?x8xf32>
    %7 = opset1.Relu(%0) : tensor<?x8xf32>
    %8 = opset1.Add(%7, %6) : tensor<?x8xf32>
    %9 = opset1.NotEqual(%0, %0) : tensor<?x8xi1>
    %10 = opset1.Select(%9, %0, %8) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%10) {name = "y"}
  }
}
