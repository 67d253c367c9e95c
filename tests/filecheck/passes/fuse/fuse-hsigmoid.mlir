// RUN: moir-opt %s -p fuse-hsigmoid,eliminate-dead | filecheck %s

// A division by 6.
// CHECK-LABEL: moir.model @division {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset5.HSigmoid(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// HardSigmoid with these parameters.
// CHECK-LABEL: moir.model @hard_sigmoid {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset5.HSigmoid(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// The clamp comes last.
// CHECK-LABEL: moir.model @unit_interval {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset5.HSigmoid(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// Another offset.
// CHECK-LABEL: moir.model @other_number {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [3.01]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Clamp(%[[V2]]) {min = 0.0, max = 6.0} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Divide(%[[V3]], %[[V4]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V5]]) {name = "y"}
// CHECK-NEXT:  }

// The default parameters of other frameworks.
// CHECK-LABEL: moir.model @other_parameters {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.2]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.HardSigmoid(%[[V0]], %[[V1]], %[[V2]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V3]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @division {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %2 = opset1.Add(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Clamp(%2) {min = 0.0, max = 6.0} : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %5 = opset1.Divide(%3, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @hard_sigmoid {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.16666667]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %3 = opset1.HardSigmoid(%0, %1, %2) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
  moir.model @unit_interval {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.16666667]>} : tensor<f32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %4 = opset1.Add(%2, %3) : tensor<?x8xf32>
    %5 = opset1.Clamp(%4) {min = 0.0, max = 1.0, name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @other_number {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.01]>} : tensor<f32>
    %2 = opset1.Add(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Clamp(%2) {min = 0.0, max = 6.0} : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %5 = opset1.Divide(%3, %4) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
  moir.model @other_parameters {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.2]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %3 = opset1.HardSigmoid(%0, %1, %2) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}
