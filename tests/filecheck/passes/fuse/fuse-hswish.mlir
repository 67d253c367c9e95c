// RUN: moir-opt %s -p fuse-hswish,eliminate-dead | filecheck %s

// x * HSigmoid(x).
// CHECK-LABEL: moir.model @by_hsigmoid {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.HSwish(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// The division comes last.
// CHECK-LABEL: moir.model @product_divided {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset4.HSwish(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// Another limit.
// CHECK-LABEL: moir.model @other_limit {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Clamp(%[[V2]]) {min = 0.0, max = 5.0} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Multiply(%[[V0]], %[[V3]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Divide(%[[V4]], %[[V5]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V6]]) {name = "y"}
// CHECK-NEXT:  }

// HSigmoid of something else.
// CHECK-LABEL: moir.model @other_operand {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset5.HSigmoid(%[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Multiply(%[[V2]], %[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @by_hsigmoid {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset5.HSigmoid(%0) : tensor<?x8xf32>
    %2 = opset1.Multiply(%1, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%2) {name = "y"}
  }
  moir.model @product_divided {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %2 = opset1.Add(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Clamp(%2) {min = 0.0, max = 6.0} : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %6 = opset1.Divide(%4, %5) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
  moir.model @other_limit {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %2 = opset1.Add(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Clamp(%2) {min = 0.0, max = 5.0} : tensor<?x8xf32>
    %4 = opset1.Multiply(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %6 = opset1.Divide(%4, %5) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
  moir.model @other_operand {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset5.HSigmoid(%1) : tensor<?x8xf32>
    %3 = opset1.Multiply(%2, %0) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}
