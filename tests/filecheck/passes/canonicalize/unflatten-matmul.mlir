// RUN: moir-opt %s -p "unflatten-matmul,eliminate-dead" --split-input-file | filecheck %s

// The leading dimensions come back after the product: they need not have been away.
// CHECK-LABEL: moir.model @tensordot
// CHECK-NOT:       opset1.Reshape
// CHECK:           opset1.MatMul(%x, %w) {name = "dense"} : tensor<?x?x96xf32>
builtin.module {
  moir.model @tensordot {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x64xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<64x96xf32>, elided "w">} : tensor<64x96xf32>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 64]>} : tensor<2xsi64>
    %1 = opset1.Reshape(%x, %flat) {special_zero = false} : tensor<?x64xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<?x96xf32>
    %s = opset3.ShapeOf(%x) : tensor<3xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>} : tensor<2xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %lead = opset8.Gather(%s, %first, %axis) : tensor<2xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [96]>} : tensor<1xsi64>
    %shape = opset1.Concat(%lead, %last) {axis = 0} : tensor<3xsi64>
    %3 = opset1.Reshape(%2, %shape) {special_zero = false, name = "dense"} : tensor<?x?x96xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Two dimensions that may have changed places, a last dimension that is not kept, and a flattened operand of other rank.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-4:   opset1.Reshape
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x64xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<64x96xf32>, elided "w">} : tensor<64x96xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<32x96xf32>, elided "v">} : tensor<32x96xf32>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 64]>} : tensor<2xsi64>
    %half = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 32]>} : tensor<2xsi64>
    %1 = opset1.Reshape(%x, %flat) {special_zero = false} : tensor<?x64xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<?x96xf32>
    %s = opset3.ShapeOf(%x) : tensor<3xsi64>
    %swapped = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %lead = opset8.Gather(%s, %swapped, %axis) : tensor<2xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [96]>} : tensor<1xsi64>
    %shape = opset1.Concat(%lead, %last) {axis = 0} : tensor<3xsi64>
    %3 = opset1.Reshape(%2, %shape) {special_zero = false} : tensor<?x?x96xf32>
    opset1.Result(%3) {name = "swapped"}
    %4 = opset1.Reshape(%x, %half) {special_zero = false} : tensor<?x32xf32>
    %5 = opset1.MatMul(%4, %v) : tensor<?x96xf32>
    %6 = opset1.Reshape(%5, %shape) {special_zero = false} : tensor<?x?x96xf32>
    opset1.Result(%6) {name = "halved"}
  }
}
