// RUN: moir-opt %s -p separate-weights --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @both
// CHECK:           %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK-NEXT:      %0 = opset1.MatMul(%x, %w) : tensor<?x2xf32>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 3.0, 2.0, 4.0]>
// CHECK-NEXT:      %2 = opset1.MatMul(%0, %1) {name = "y"} : tensor<?x2xf32>
builtin.module {
  moir.model @both {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %1 = opset1.MatMul(%x, %w) : tensor<?x2xf32>
    %2 = opset1.MatMul(%1, %w) {transpose_b = true, name = "y"} : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Weights in half precision; equal bytes in two constants.
// CHECK-LABEL: moir.model @stored
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<2x2xf16>, [1.0, 3.0, 2.0, 4.0]>}
// CHECK-NEXT:      %1 = opset1.Convert(%0) {destination_type = f32} : tensor<2x2xf32>
// CHECK-NEXT:      %2 = opset1.MatMul(%x, %1) {transpose_a = true}
builtin.module {
  moir.model @stored {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf16>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf16>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<2x2xf16>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf16>
    %d = opset1.Convert(%v) {destination_type = f32} : tensor<2x2xf32>
    %1 = opset1.MatMul(%x, %c) {transpose_a = true, transpose_b = true} : tensor<2x2xf32>
    %2 = opset1.MatMul(%x, %d) : tensor<2x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Only transposed, and not square: nothing to mistake.
// CHECK-LABEL: moir.model @others
// CHECK:           opset1.MatMul(%x, %w) {transpose_b = true}
// CHECK:           opset1.MatMul(%x, %w) {transpose_b = true}
// CHECK:           opset1.MatMul(%x, %u)
// CHECK:           opset1.MatMul(%y, %u) {transpose_b = true}
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %u = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]>} : tensor<2x3xf32>
    %1 = opset1.MatMul(%x, %w) {transpose_b = true} : tensor<?x2xf32>
    %2 = opset1.MatMul(%x, %w) {transpose_b = true} : tensor<?x2xf32>
    %3 = opset1.MatMul(%x, %u) : tensor<?x3xf32>
    %4 = opset1.MatMul(%y, %u) {transpose_b = true} : tensor<?x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
    opset1.Result(%4) {name = "d"}
  }
}

// -----

// What is transposed for one product is what another one transposes.
// CHECK-LABEL: moir.model @chain
// CHECK-NOT:       transpose_b = true
builtin.module {
  moir.model @chain {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 3.0, 2.0, 4.0]>} : tensor<2x2xf32>
    %1 = opset1.MatMul(%x, %v) : tensor<?x2xf32>
    %2 = opset1.MatMul(%x, %w) {transpose_b = true} : tensor<?x2xf32>
    %3 = opset1.MatMul(%2, %v) {transpose_b = true} : tensor<?x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}
