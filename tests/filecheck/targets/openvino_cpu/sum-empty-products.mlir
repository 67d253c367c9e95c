// RUN: moir-opt %s -p sum-empty-products --verify-each --split-input-file | filecheck %s

// MatMul of matrices without elements, with a factor after it: is garbage, or has no element.
// CHECK-LABEL: moir.model @matmul_empty
// CHECK:           opset1.Unsqueeze(%0, %2) : tensor<5x4x0x1xf32>
// CHECK:           opset1.Unsqueeze(%1, %4) : tensor<1x0x2xf32>
// CHECK:           opset1.Multiply(%3, %5) : tensor<5x4x0x2xf32>
// CHECK:           opset1.ReduceSum(%6, %7) : tensor<5x4x2xf32>
// CHECK:           opset1.Multiply(%8, %9) : tensor<5x4x2xf32>
// CHECK-NOT:       opset1.MatMul(
builtin.module {
  moir.model @matmul_empty {
    %0 = opset1.Parameter() {name = "x0"} : tensor<5x4x0xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<0x2xf32>, []>} : tensor<0x2xf32>
    %2 = opset1.MatMul(%0, %1) : tensor<5x4x2xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 2.0]>} : tensor<2xf32>
    %4 = opset1.Multiply(%2, %3) : tensor<5x4x2xf32>
    opset1.Result(%4) {name = "y0"}
  }
}

// -----

// Einsum of operands that are known to have no element, of unknown sizes: is not compiled.
// CHECK-LABEL: moir.model @einsum_empty
// CHECK:           opset3.ShapeOf(%0) : tensor<2xsi64>
// CHECK:           opset8.Gather(%3, %4, %5) : tensor<1xsi64>
// CHECK:           opset1.Concat(%2, %6, %7) {axis = 0} : tensor<2xsi64>
// CHECK:           opset3.Broadcast(%9, %8) : tensor<?x1xf32>
// CHECK-NOT:       opset7.Einsum(
builtin.module {
  moir.model @einsum_empty {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<0x1xf32>, []>} : tensor<0x1xf32>
    %2 = opset7.Einsum(%0, %1) {equation = "ij,jk->ik"} : tensor<?x1xf32>
    opset1.Result(%2) {name = "y0"}
  }
}
