// RUN: moir-opt %s -p "fuse-matmul-transpose,eliminate-dead" --split-input-file | filecheck %s

// Transpositions of operands and of the result become flags.
// CHECK-LABEL: moir.model @flags
// CHECK:           opset1.MatMul(%[[B:.*]], %[[A:.*]]) {transpose_a = true, transpose_b = true, name = "last"} : tensor<?x6x4xf32>
builtin.module {
  moir.model @flags {
    %a = opset1.Parameter() {name = "a"} : tensor<?x4x8xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<?x8x6xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %1 = opset1.MatMul(%a, %b) : tensor<?x4x6xf32>
    %2 = opset1.Transpose(%1, %o) {name = "last"} : tensor<?x6x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A transposition that somebody else uses, or one of other dimensions, stays.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Transpose
// CHECK:           opset1.Transpose
builtin.module {
  moir.model @kept {
    %a = opset1.Parameter() {name = "a"} : tensor<4x4x4xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %p = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %1 = opset1.Transpose(%a, %o) : tensor<4x4x4xf32>
    %2 = opset1.Transpose(%a, %p) : tensor<4x4x4xf32>
    %3 = opset1.MatMul(%1, %2) : tensor<4x4x4xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Quantized weights stay the second operand.
// CHECK-LABEL: moir.model @quantized
// CHECK:           %[[Y:.*]] = opset1.MatMul(%{{.*}}, %{{.*}}) {transpose_b = true} : tensor<4x6xf32>
// CHECK:           opset1.Transpose(%[[Y]]
builtin.module {
  moir.model @quantized {
    %x = opset1.Parameter() {name = "x"} : tensor<4x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<6x2xsi8>, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]>} : tensor<6x2xsi8>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %o = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset1.Convert(%w) {destination_type = f32} : tensor<6x2xf32>
    %2 = opset1.Multiply(%1, %s) : tensor<6x2xf32>
    %3 = opset1.MatMul(%x, %2) {transpose_b = true} : tensor<4x6xf32>
    %4 = opset1.Transpose(%3, %o) : tensor<6x4xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Constant weights stay the second operand, and their data untransposed.
// CHECK-LABEL: moir.model @weights
// CHECK:           %[[T:.*]] = opset1.Transpose(%x, %o)
// CHECK:           %[[Y:.*]] = opset1.MatMul(%[[T]], %w)
// CHECK:           opset1.Transpose(%[[Y]], %o)
builtin.module {
  moir.model @weights {
    %x = opset1.Parameter() {name = "x"} : tensor<8x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<8x2xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>} : tensor<8x2xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset1.Transpose(%x, %o) : tensor<4x8xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<4x2xf32>
    %3 = opset1.Transpose(%2, %o) : tensor<2x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}
