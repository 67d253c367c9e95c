// RUN: moir-opt %s -p transpose-quantized-weights,eliminate-dead --split-input-file | filecheck %s

// Integers with a zero point, which stays, and scales of the columns.
// CHECK-LABEL: moir.model @quantized
// CHECK:           %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<3x2xsi8>, [1, 4, 2, 5, 3, 6]>, name = "w"}
// CHECK-NEXT:    %[[C:.*]] = opset1.Convert(%[[W]])
// CHECK-NEXT:    %[[D:.*]] = opset1.Subtract(%[[C]], %{{.*}}) : tensor<3x2xf32>
// CHECK-NEXT:    %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [0.5, 1.0, 2.0]>}
// CHECK-NEXT:    %[[M:.*]] = opset1.Multiply(%[[D]], %[[S]]) {name = "scaled"} : tensor<3x2xf32>
// CHECK-NEXT:    opset1.MatMul(%{{.*}}, %[[M]]) {transpose_b = true} : tensor<?x3xf32>
builtin.module {
  moir.model @quantized {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xsi8>, [1, 2, 3, 4, 5, 6]>, name = "w"} : tensor<2x3xsi8>
    %z = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xf32>, [0.5, 1.0, 2.0]>} : tensor<3xf32>
    %0 = opset1.Convert(%w) {destination_type = f32} : tensor<2x3xf32>
    %1 = opset1.Subtract(%0, %z) : tensor<2x3xf32>
    %2 = opset1.Multiply(%1, %s) {name = "scaled", tensor_names = [["scaled"]]} : tensor<2x3xf32>
    %3 = opset1.MatMul(%x, %2) : tensor<?x3xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Weights with other uses, and factors that are computed.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       transpose_b
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %s = opset1.Parameter() {name = "s"} : tensor<3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x3xsi8>, [1, 2, 3, 4, 5, 6]>} : tensor<2x3xsi8>
    %f = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.Convert(%w) {destination_type = f32} : tensor<2x3xf32>
    %1 = opset1.Multiply(%0, %f) : tensor<2x3xf32>
    %2 = opset1.MatMul(%x, %1) : tensor<?x3xf32>
    %3 = opset1.Multiply(%0, %s) : tensor<2x3xf32>
    %4 = opset1.MatMul(%x, %3) : tensor<?x3xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}
