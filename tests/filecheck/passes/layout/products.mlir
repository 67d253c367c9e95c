// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// A batch is permuted, the last two dimensions become flags.
// CHECK-LABEL: moir.model @batch
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<3x2x4x5xf32>
// CHECK:      %[[V1:.*]] = opset1.Parameter() {name = "x1"} : tensor<3x2x4x6xf32>
// CHECK:      %[[V2:.*]] = opset1.MatMul(%[[V0]], %[[V1]]) {transpose_a = true} : tensor<3x2x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @batch {
    %0 = opset1.Parameter() {name = "x0"} : tensor<3x2x4x5xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<3x2x4x6xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 0, 3, 2]>} : tensor<4xsi64>
    %3 = opset1.Transpose(%0, %2) : tensor<2x3x5x4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 0, 2, 3]>} : tensor<4xsi64>
    %5 = opset1.Transpose(%1, %4) : tensor<2x3x4x6xf32>
    %6 = opset1.MatMul(%3, %5) : tensor<2x3x5x6xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 0, 2, 3]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<3x2x5x6xf32>
    opset1.Result(%8)
  }
}

// -----

// A transposed product is the product of the transposed operands.
// CHECK-LABEL: moir.model @result
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<3x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Parameter() {name = "x1"} : tensor<4x5xf32>
// CHECK:      %[[V2:.*]] = opset1.MatMul(%[[V1]], %[[V0]]) {transpose_a = true, transpose_b = true} : tensor<5x3xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @result {
    %0 = opset1.Parameter() {name = "x0"} : tensor<3x4xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<4x5xf32>
    %2 = opset1.MatMul(%0, %1) : tensor<3x5xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<5x3xf32>
    opset1.Result(%4)
  }
}

// -----

// The labels of an operand change places.
// CHECK-LABEL: moir.model @sum_of_products
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<3x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Parameter() {name = "x1"} : tensor<3x5xf32>
// CHECK:      %[[V2:.*]] = opset7.Einsum(%[[V0]], %[[V1]]) {equation = "ba,bc->ac"} : tensor<4x5xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @sum_of_products {
    %0 = opset1.Parameter() {name = "x0"} : tensor<3x4xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<3x5xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %3 = opset1.Transpose(%0, %2) : tensor<4x3xf32>
    %4 = opset7.Einsum(%3, %1) {equation = "ab,bc->ac"} : tensor<4x5xf32>
    opset1.Result(%4)
  }
}

// -----

// Rows cannot leave the last two dimensions.
// CHECK-LABEL: moir.model @rows
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<4x2xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>}
// CHECK:      %[[V4:.*]] = opset1.MatMul(%[[V2]], %[[V3]]) : tensor<2x5x6x2xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @rows {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4x2xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>} : tensor<4x2xf32>
    %4 = opset1.MatMul(%2, %3) : tensor<2x5x6x2xf32>
    opset1.Result(%4)
  }
}

// -----

// Quantized weights stay the second operand: a Transpose does not move over the product.
// CHECK-LABEL: moir.model @quantized
// CHECK:      %[[Y:.*]] = opset1.MatMul(%{{.*}}, %{{.*}}) {transpose_b = true} : tensor<4x6xf32>
// CHECK:      opset1.Transpose(%{{.*}}, %{{.*}}) : tensor<6x4xf32>
builtin.module {
  moir.model @quantized {
    %x = opset1.Parameter() {name = "x"} : tensor<4x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<6x2xsi8>, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]>} : tensor<6x2xsi8>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %o = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset1.Convert(%w) {destination_type = f32} : tensor<6x2xf32>
    %2 = opset1.Multiply(%1, %s) : tensor<6x2xf32>
    %3 = opset1.MatMul(%x, %2) {transpose_b = true} : tensor<4x6xf32>
    %4 = opset1.Relu(%3) : tensor<4x6xf32>
    %5 = opset1.Transpose(%4, %o) : tensor<6x4xf32>
    opset1.Result(%5) {name = "y"}
  }
}
