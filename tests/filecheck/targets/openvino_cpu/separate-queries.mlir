// RUN: moir-opt %s -p separate-queries --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @queries
// CHECK:         %[[S:.*]] = opset1.Reshape(%q, %{{.*}}) {special_zero = true} : tensor<1x4x4x2x4xf32>
// CHECK:         %[[T:.*]] = opset1.Transpose(%[[S]], %{{.*}}) : tensor<1x4x4x2x4xf32>
// CHECK:         %[[Q:.*]] = opset1.Reshape(%[[T]], %{{.*}}) {special_zero = true, name = "t"} : tensor<1x4x4x8xf32>
// CHECK:         opset1.MatMul(%[[Q]], %k)
builtin.module {
  moir.model @queries {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x8x7xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x4x7x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %0 = opset1.Transpose(%q, %o) {name = "t"} : tensor<1x4x4x8xf32>
    %1 = opset1.MatMul(%0, %k) : tensor<1x4x4x7xf32>
    %2 = opset8.Softmax(%1) {axis = 3 : si64} : tensor<1x4x4x7xf32>
    %3 = opset1.MatMul(%2, %v) : tensor<1x4x4x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// An operation of its own, after a scale.
// CHECK-LABEL: moir.model @attention
// CHECK:         opset1.Reshape(%q, %{{.*}}) {special_zero = true} : tensor<1x4x4x1x3xf32>
builtin.module {
  moir.model @attention {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x3xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x3xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x3xf32>
    %1 = opset1.Multiply(%0, %c) : tensor<1x4x4x3xf32>
    %2 = opset13.ScaledDotProductAttention(%1, %k, %k) {causal = false} : tensor<1x4x4x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The result has other sizes than the queries.
// CHECK-LABEL: moir.model @wider
// CHECK-NOT:     opset1.Reshape
builtin.module {
  moir.model @wider {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x8x7xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x4x7x5xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x8xf32>
    %1 = opset1.MatMul(%0, %k) : tensor<1x4x4x7xf32>
    %2 = opset8.Softmax(%1) {axis = 3 : si64} : tensor<1x4x4x7xf32>
    %3 = opset1.MatMul(%2, %v) : tensor<1x4x4x5xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The queries and the result are transposed: both are read and written where they are.
// CHECK-LABEL: moir.model @both
// CHECK-NOT:     opset1.Reshape
builtin.module {
  moir.model @both {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x8xf32>
    %1 = opset13.ScaledDotProductAttention(%0, %k, %k) {causal = false} : tensor<1x4x4x8xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<1x4x4x8xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The result alone is transposed.
// CHECK-LABEL: moir.model @result
// CHECK:         %[[A:.*]] = opset13.ScaledDotProductAttention
// CHECK:         opset1.Reshape(%[[A]], %{{.*}}) {special_zero = true} : tensor<1x4x4x2x4xf32>
builtin.module {
  moir.model @result {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %0 = opset1.Relu(%q) : tensor<1x4x4x8xf32>
    %1 = opset13.ScaledDotProductAttention(%0, %k, %k) {causal = false} : tensor<1x4x4x8xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<1x4x4x8xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Two operations read the transposed result: the plugin does not merge its Transpose.
// CHECK-LABEL: moir.model @shared
// CHECK:         opset1.Reshape(%q, %{{.*}}) {special_zero = true} : tensor<1x4x4x2x4xf32>
builtin.module {
  moir.model @shared {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x8xf32>
    %1 = opset13.ScaledDotProductAttention(%0, %k, %k) {causal = false} : tensor<1x4x4x8xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<1x4x4x8xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// The plugin moves an elementwise operation before the Transpose of the result, also through a Reshape.
// CHECK-LABEL: moir.model @activation
// CHECK:         opset1.Reshape(%q, %{{.*}}) {special_zero = true} : tensor<1x4x4x2x4xf32>
builtin.module {
  moir.model @activation {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 4, 32]>} : tensor<3xsi64>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x8xf32>
    %1 = opset13.ScaledDotProductAttention(%0, %k, %k) {causal = false} : tensor<1x4x4x8xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<1x4x4x8xf32>
    %3 = opset1.Reshape(%2, %s) {special_zero = false} : tensor<1x4x32xf32>
    %4 = opset1.Sigmoid(%3) : tensor<1x4x32xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// A product of the result: its Transpose is merged.
// CHECK-LABEL: moir.model @projection
// CHECK-NOT:     tensor<1x4x4x2x4xf32>
builtin.module {
  moir.model @projection {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<32x8xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 4, 32]>} : tensor<3xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x8xf32>
    %1 = opset1.Multiply(%0, %c) : tensor<1x4x4x8xf32>
    %2 = opset13.ScaledDotProductAttention(%1, %k, %k) {causal = false} : tensor<1x4x4x8xf32>
    %3 = opset1.Transpose(%2, %o) : tensor<1x4x4x8xf32>
    %4 = opset1.Reshape(%3, %s) {special_zero = false} : tensor<1x4x32xf32>
    %5 = opset1.MatMul(%4, %w) {transpose_a = false, transpose_b = false} : tensor<1x4x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// A scale for each element of a head is not merged, and so is not the Transpose before it.
// CHECK-LABEL: moir.model @scaled
// CHECK:         %[[A:.*]] = opset13.ScaledDotProductAttention
// CHECK:         opset1.Reshape(%[[A]], %{{.*}}) {special_zero = true} : tensor<1x4x4x1x3xf32>
builtin.module {
  moir.model @scaled {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x3xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x3xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf32>, [0.5, 1, 2]>} : tensor<3xf32>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x3xf32>
    %1 = opset1.Multiply(%0, %c) : tensor<1x4x4x3xf32>
    %2 = opset13.ScaledDotProductAttention(%1, %k, %k) {causal = false} : tensor<1x4x4x3xf32>
    %3 = opset1.Transpose(%2, %o) : tensor<1x4x4x3xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The plugin merges no Transpose of queries that are quantized after it.
// CHECK-LABEL: moir.model @quantized
// CHECK:         opset1.Reshape(%q, %{{.*}}) {special_zero = true} : tensor<1x4x4x1x3xf32>
// CHECK:         %[[A:.*]] = opset13.ScaledDotProductAttention
// CHECK:         opset1.Reshape(%[[A]], %{{.*}}) {special_zero = true} : tensor<1x4x4x1x3xf32>
builtin.module {
  moir.model @quantized {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x4x3xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<1x4x7x3xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [-1]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [1]>} : tensor<f32>
    %0 = opset1.Transpose(%q, %o) : tensor<1x4x4x3xf32>
    %1 = opset1.FakeQuantize(%0, %l, %h, %l, %h) {levels = 256} : tensor<1x4x4x3xf32>
    %2 = opset13.ScaledDotProductAttention(%1, %k, %k) {causal = false} : tensor<1x4x4x3xf32>
    %3 = opset1.Transpose(%2, %o) : tensor<1x4x4x3xf32>
    opset1.Result(%3) {name = "y"}
  }
}
