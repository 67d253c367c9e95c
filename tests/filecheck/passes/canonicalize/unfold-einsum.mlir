// RUN: moir-opt %s -p "unfold-einsum,eliminate-dead" --split-input-file | filecheck %s

// A projection to heads.
// CHECK-LABEL: moir.model @projection
// CHECK:           %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, [1.0, 2.0, {{.*}}]>}
// CHECK-NEXT:      %[[P:.*]] = opset1.MatMul(%x, %[[W]]) : tensor<?x?x4xf32>
// CHECK:           opset1.Reshape(%[[P]], %{{.*}}) {special_zero = true, name = "heads"} : tensor<?x?x2x2xf32>
builtin.module {
  moir.model @projection {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x2x2xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]>} : tensor<3x2x2xf32>
    %0 = opset7.Einsum(%x, %w) {equation = "abc,cde->abde", name = "heads"} : tensor<?x?x2x2xf32>
    opset1.Result(%0) {name = "out"}
  }
}

// -----

// Scores of attention, whose rows are those of the second operand.
// CHECK-LABEL: moir.model @scores
// CHECK:           %[[Q:.*]] = opset1.Transpose(%q, %{{.*}}) : tensor<?x2x?x4xf32>
// CHECK:           %[[K:.*]] = opset1.Transpose(%k, %{{.*}}) : tensor<?x2x4x?xf32>
// CHECK-NEXT:      opset1.MatMul(%[[Q]], %[[K]]) {name = "scores"} : tensor<?x2x?x?xf32>
builtin.module {
  moir.model @scores {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x2x4xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x?x2x4xf32>
    %0 = opset7.Einsum(%k, %q) {equation = "aecd,abcd->acbe", name = "scores"} : tensor<?x2x?x?xf32>
    opset1.Result(%0) {name = "out"}
  }
}

// -----

// A sum of one operand alone, a diagonal, an outer product and a product of integers are no matrix products.
// CHECK-LABEL: moir.model @others
// CHECK-COUNT-4:   opset7.Einsum
// CHECK-NOT:       opset1.MatMul
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<3x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x3xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<3x3xsi32>
    %0 = opset7.Einsum(%x, %y) {equation = "ab,bc->b"} : tensor<3xf32>
    %1 = opset7.Einsum(%x, %y) {equation = "aa,ab->ab"} : tensor<3x3xf32>
    %2 = opset7.Einsum(%x, %y) {equation = "ab,cd->abcd"} : tensor<3x3x3x3xf32>
    %3 = opset7.Einsum(%i, %i) {equation = "ab,bc->ac"} : tensor<3x3xsi32>
    opset1.Result(%0) {name = "p"}
    opset1.Result(%1) {name = "q"}
    opset1.Result(%2) {name = "r"}
    opset1.Result(%3) {name = "s"}
  }
}

// -----

// A projection of heads, which are transposed before.
// CHECK-LABEL: moir.model @merged_heads
// CHECK:           %[[T:.*]] = opset1.Transpose
// CHECK:           %[[R:.*]] = opset1.Reshape(%{{.*}}, %{{.*}}) {special_zero = true}
// CHECK:           opset1.MatMul(%[[R]], %{{.*}}) {name = "out"}
builtin.module {
  moir.model @merged_heads {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x?x2xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 3, 2]>} : tensor<4xsi64>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2x3xf32>, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]>} : tensor<2x2x3xf32>
    %t = opset1.Transpose(%x, %o) : tensor<?x2x2x?xf32>
    %0 = opset7.Einsum(%t, %w) {equation = "cabd,abe->cde", name = "out"} : tensor<?x?x3xf32>
    opset1.Result(%0) {name = "out"}
  }
}
