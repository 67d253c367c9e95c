// RUN: moir-opt %s -p fuse-gelu,eliminate-dead | filecheck %s

// By erf.
// CHECK-LABEL: moir.model @erf {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset7.Gelu(%[[V0]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// By tanh.
// CHECK-LABEL: moir.model @tanh {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset7.Gelu(%[[V0]]) {approximation_mode = "TANH", name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V1]]) {name = "y"}
// CHECK-NEXT:  }

// Another coefficient of the cube.
// CHECK-LABEL: moir.model @other_coefficient {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Multiply(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Power(%[[V0]], %[[V3]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0448]>} : tensor<f32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Multiply(%[[V4]], %[[V5]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V7:.*]] = opset1.Add(%[[V0]], %[[V6]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V8:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.7978846]>} : tensor<f32>
// CHECK-NEXT:    %[[V9:.*]] = opset1.Multiply(%[[V7]], %[[V8]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V10:.*]] = opset1.Tanh(%[[V9]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V11:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V12:.*]] = opset1.Add(%[[V10]], %[[V11]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V13:.*]] = opset1.Multiply(%[[V2]], %[[V12]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V13]]) {name = "y"}
// CHECK-NEXT:  }

// Without ½.
// CHECK-LABEL: moir.model @no_half {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.4142135]>} : tensor<f32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Divide(%[[V0]], %[[V1]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Erf(%[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Add(%[[V3]], %[[V4]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Multiply(%[[V0]], %[[V5]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V6]]) {name = "y"}
// CHECK-NEXT:  }

// The product with another value.
// CHECK-LABEL: moir.model @other_factor {
// CHECK-NEXT:    %[[V0:.*]] = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
// CHECK-NEXT:    %[[V1:.*]] = opset1.Exp(%[[V0]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.4142135]>} : tensor<f32>
// CHECK-NEXT:    %[[V3:.*]] = opset1.Divide(%[[V0]], %[[V2]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V4:.*]] = opset1.Erf(%[[V3]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
// CHECK-NEXT:    %[[V6:.*]] = opset1.Add(%[[V4]], %[[V5]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V7:.*]] = opset1.Multiply(%[[V1]], %[[V6]]) : tensor<?x8xf32>
// CHECK-NEXT:    %[[V8:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
// CHECK-NEXT:    %[[V9:.*]] = opset1.Multiply(%[[V7]], %[[V8]]) {name = "fused"} : tensor<?x8xf32>
// CHECK-NEXT:    opset1.Result(%[[V9]]) {name = "y"}
// CHECK-NEXT:  }

builtin.module {
  moir.model @erf {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.4142135]>} : tensor<f32>
    %2 = opset1.Divide(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Erf(%2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %5 = opset1.Add(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Multiply(%0, %5) : tensor<?x8xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %8 = opset1.Multiply(%6, %7) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%8) {name = "y"}
  }
  moir.model @tanh {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %4 = opset1.Power(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.044715]>} : tensor<f32>
    %6 = opset1.Multiply(%4, %5) : tensor<?x8xf32>
    %7 = opset1.Add(%0, %6) : tensor<?x8xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.7978846]>} : tensor<f32>
    %9 = opset1.Multiply(%7, %8) : tensor<?x8xf32>
    %10 = opset1.Tanh(%9) : tensor<?x8xf32>
    %11 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %12 = opset1.Add(%10, %11) : tensor<?x8xf32>
    %13 = opset1.Multiply(%2, %12) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%13) {name = "y"}
  }
  moir.model @other_coefficient {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %2 = opset1.Multiply(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %4 = opset1.Power(%0, %3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0448]>} : tensor<f32>
    %6 = opset1.Multiply(%4, %5) : tensor<?x8xf32>
    %7 = opset1.Add(%0, %6) : tensor<?x8xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.7978846]>} : tensor<f32>
    %9 = opset1.Multiply(%7, %8) : tensor<?x8xf32>
    %10 = opset1.Tanh(%9) : tensor<?x8xf32>
    %11 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %12 = opset1.Add(%10, %11) : tensor<?x8xf32>
    %13 = opset1.Multiply(%2, %12) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%13) {name = "y"}
  }
  moir.model @no_half {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.4142135]>} : tensor<f32>
    %2 = opset1.Divide(%0, %1) : tensor<?x8xf32>
    %3 = opset1.Erf(%2) : tensor<?x8xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %5 = opset1.Add(%3, %4) : tensor<?x8xf32>
    %6 = opset1.Multiply(%0, %5) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
  moir.model @other_factor {
    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %1 = opset1.Exp(%0) : tensor<?x8xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.4142135]>} : tensor<f32>
    %3 = opset1.Divide(%0, %2) : tensor<?x8xf32>
    %4 = opset1.Erf(%3) : tensor<?x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %6 = opset1.Add(%4, %5) : tensor<?x8xf32>
    %7 = opset1.Multiply(%1, %6) : tensor<?x8xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %9 = opset1.Multiply(%7, %8) {name = "fused"} : tensor<?x8xf32>
    opset1.Result(%9) {name = "y"}
  }
}
