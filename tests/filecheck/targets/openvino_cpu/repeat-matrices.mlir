// RUN: moir-opt %s -p repeat-matrices --verify-each --split-input-file | filecheck %s

// MatMul of matrices of an unknown number, which is 1, with several constant ones: does not run; with one thread
// its result has other sizes.
// CHECK-LABEL: moir.model @matmul_batch
// CHECK:           opset3.Broadcast(%0, %2) {mode = "bidirectional"} : tensor<2x?x?xf32>
// CHECK:           opset1.MatMul(%3, %1) : tensor<2x?x1xf32>
builtin.module {
  moir.model @matmul_batch {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2x2x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2x1xf32>
    %2 = opset1.MatMul(%0, %1) : tensor<2x?x1xf32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// CHECK-LABEL: moir.model @known_number
// CHECK-NOT:       opset3.Broadcast
builtin.module {
  moir.model @known_number {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2x2x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2x1xf32>
    %2 = opset1.MatMul(%0, %1) : tensor<2x?x1xf32>
    opset1.Result(%2) {name = "y0"}
  }
}
