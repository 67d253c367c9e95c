// RUN: moir-opt %s -p "unflatten-batch,eliminate-dead" --split-input-file | filecheck %s

// Scores of two operands whose heads are merged, with a factor of the key, a factor and an addend for each head.
// CHECK-LABEL: moir.model @scores
// CHECK-DAG:       %[[UNIT:.*]] = opset1.Concat(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK-DAG:       %[[BIAS:.*]] = opset1.Reshape(%bias, %[[UNIT]])
// CHECK-DAG:       %[[PRODUCT:.*]] = opset1.MatMul(%q, %k) {transpose_b = true}
// CHECK:           %[[HALF:.*]] = opset1.Multiply(%[[PRODUCT]], %{{.*}})
// CHECK-NEXT:      %[[SCALED:.*]] = opset1.Multiply(%half, %[[HALF]])
// CHECK-NEXT:      opset1.Add(%[[SCALED]], %[[BIAS]]) {name = "scores"} : tensor<?x4x?x?xf32>
builtin.module {
  moir.model @scores {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x32xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 4, -1, 8]>} : tensor<4xsi64>
    %one0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %slopes = opset1.Constant() {value = #moir.data<tensor<1x4x1xf32>, elided "slopes">} : tensor<1x4x1xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %q = opset1.Reshape(%x, %heads) {special_zero = true} : tensor<?x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<?x4x?x8xf32>
    %sums = opset1.ReduceSum(%x, %last) {keep_dims = false} : tensor<?x?xf32>
    %row0 = opset1.Unsqueeze(%sums, %one0) : tensor<?x1x?xf32>
    %bias = opset1.Multiply(%slopes, %row0) {name = "bias"} : tensor<?x4x?xf32>
    %s = opset3.ShapeOf(%q) : tensor<4xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %eight = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [8]>} : tensor<1xsi64>
    %b = opset8.Gather(%s, %0, %axis) : tensor<1xsi64>
    %n = opset8.Gather(%s, %two, %axis) : tensor<1xsi64>
    %bh = opset1.Multiply(%b, %four) : tensor<1xsi64>
    %merged = opset1.Concat(%bh, %n, %eight) {axis = 0} : tensor<3xsi64>
    %row = opset1.Concat(%bh, %one, %n) {axis = 0} : tensor<3xsi64>
    %separate = opset1.Concat(%b, %four, %n, %n) {axis = 0} : tensor<4xsi64>
    %swap = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %root = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Reshape(%q, %merged) {special_zero = false} : tensor<?x?x8xf32>
    %2 = opset1.Reshape(%k, %merged) {special_zero = false} : tensor<?x?x8xf32>
    %3 = opset1.Transpose(%2, %swap) : tensor<?x8x?xf32>
    %4 = opset1.Divide(%3, %root) : tensor<?x8x?xf32>
    %5 = opset1.MatMul(%1, %4) : tensor<?x?x?xf32>
    %6 = opset1.Multiply(%half, %5) : tensor<?x?x?xf32>
    %7 = opset1.Reshape(%bias, %row) {special_zero = false} : tensor<?x1x?xf32>
    %8 = opset1.Add(%6, %7) : tensor<?x?x?xf32>
    %9 = opset1.Reshape(%8, %separate) {special_zero = false, name = "scores"} : tensor<?x4x?x?xf32>
    opset1.Result(%9) {name = "y"}
  }
}

// -----

// A product whose rows the Reshape exchanges for heads, and one of merged heads that others use.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-7:   opset1.Reshape
builtin.module {
  moir.model @kept {
    %p = opset1.Parameter() {name = "p"} : tensor<2x96xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 4, 3, 8]>} : tensor<4xsi64>
    %q = opset1.Reshape(%p, %heads) {special_zero = false} : tensor<2x4x3x8xf32>
    %merged = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [8, 3, 8]>} : tensor<3xsi64>
    %other = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 12, 8]>} : tensor<3xsi64>
    %separate = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 4, 3, 3]>} : tensor<4xsi64>
    %swapped = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 3, 4, 3]>} : tensor<4xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 12, 4, 3]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%q, %merged) {special_zero = false} : tensor<8x3x8xf32>
    %2 = opset1.MatMul(%1, %1) {transpose_b = true} : tensor<8x3x3xf32>
    %3 = opset1.Reshape(%2, %swapped) {special_zero = false} : tensor<2x3x4x3xf32>
    opset1.Result(%3) {name = "swapped"}
    %4 = opset1.Reshape(%q, %other) {special_zero = false} : tensor<2x12x8xf32>
    %5 = opset1.MatMul(%4, %4) {transpose_b = true} : tensor<2x12x12xf32>
    %6 = opset1.Reshape(%5, %rest) {special_zero = false} : tensor<2x12x4x3xf32>
    opset1.Result(%6) {name = "rest"}
    %7 = opset1.MatMul(%1, %1) {transpose_b = true} : tensor<8x3x3xf32>
    %8 = opset1.Reshape(%7, %separate) {special_zero = false} : tensor<2x4x3x3xf32>
    %9 = opset1.Relu(%7) : tensor<8x3x3xf32>
    %10 = opset1.Reshape(%9, %separate) {special_zero = false} : tensor<2x4x3x3xf32>
    opset1.Result(%8) {name = "shared"}
    opset1.Result(%10) {name = "used"}
  }
}

// -----

// A key that is transposed with its heads merged.
// CHECK-LABEL: moir.model @transposed
// CHECK:           opset1.Transpose(%q, %{{.*}}) {name = "key"} : tensor<2x4x8x3xf32>
builtin.module {
  moir.model @transposed {
    %p = opset1.Parameter() {name = "p"} : tensor<2x96xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 4, 3, 8]>} : tensor<4xsi64>
    %merged = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [-1, 3, 8]>} : tensor<3xsi64>
    %separate = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 4, 8, -1]>} : tensor<4xsi64>
    %swap = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %q = opset1.Reshape(%p, %heads) {special_zero = false} : tensor<2x4x3x8xf32>
    %1 = opset1.Reshape(%q, %merged) {special_zero = false} : tensor<8x3x8xf32>
    %2 = opset1.Transpose(%1, %swap) : tensor<8x8x3xf32>
    %3 = opset1.Reshape(%2, %separate) {special_zero = false, name = "key"} : tensor<2x4x8x3xf32>
    opset1.Result(%3) {name = "y"}
  }
}
