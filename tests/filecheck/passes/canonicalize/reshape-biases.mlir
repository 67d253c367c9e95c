// RUN: moir-opt %s -p "reshape-biases,eliminate-dead" --split-input-file | filecheck %s

// A bias for each head and element.
// CHECK-LABEL: moir.model @heads
// CHECK:           %[[BIAS:.*]] = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK-NEXT:      %[[SUM:.*]] = opset1.Add(%{{.*}}, %[[BIAS]]) : tensor<?x?x4xf32>
// CHECK-NEXT:      opset1.Reshape(%[[SUM]], %heads) {special_zero = true, name = "biased"} : tensor<?x?x2x2xf32>
builtin.module {
  moir.model @heads {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, elided "w">} : tensor<3x4xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<1x2x2xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 2, 2]>} : tensor<4xsi64>
    %1 = opset1.MatMul(%x, %w) : tensor<?x?x4xf32>
    %2 = opset1.Reshape(%1, %heads) {special_zero = true} : tensor<?x?x2x2xf32>
    %3 = opset1.Add(%bias, %2) {name = "biased"} : tensor<?x?x2x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// One number for each head.
// CHECK-LABEL: moir.model @repeated
// CHECK:           opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 2.0, 2.0]>}
builtin.module {
  moir.model @repeated {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, elided "w">} : tensor<3x4xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 2, 2]>} : tensor<4xsi64>
    %1 = opset1.MatMul(%x, %w) : tensor<?x?x4xf32>
    %2 = opset1.Reshape(%1, %heads) {special_zero = true} : tensor<?x?x2x2xf32>
    %3 = opset1.Add(%2, %bias) : tensor<?x?x2x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Numbers for rows, and a Reshape that merges rows.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Reshape
// CHECK-NEXT:      opset1.Add
// CHECK:           opset1.Reshape
// CHECK-NEXT:      opset1.Add
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, elided "w">} : tensor<3x4xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 2, 2]>} : tensor<4xsi64>
    %merged = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 4, 1, 2]>} : tensor<4xsi64>
    %1 = opset1.MatMul(%x, %w) : tensor<?x2x4xf32>
    %2 = opset1.Reshape(%1, %heads) {special_zero = true} : tensor<?x2x2x2xf32>
    %3 = opset1.Add(%2, %rows) : tensor<?x2x2x2xf32>
    opset1.Result(%3) {name = "rows"}
    %4 = opset1.MatMul(%x, %w) : tensor<?x2x4xf32>
    %5 = opset1.Reshape(%4, %merged) {special_zero = true} : tensor<?x4x1x2xf32>
    %6 = opset1.Add(%5, %bias) : tensor<?x4x1x2xf32>
    opset1.Result(%6) {name = "merged"}
  }
}
