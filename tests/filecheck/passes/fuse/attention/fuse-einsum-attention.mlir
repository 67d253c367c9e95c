// RUN: moir-opt %s -p fuse-einsum-attention --split-input-file | filecheck %s

// With a scale and an added mask.
// CHECK-LABEL: @masked
// CHECK:           %[[SCALE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>}
// CHECK:           %[[A:.*]] = opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[SCALE]]) : tensor<2x3x?x8xf32>
// CHECK:           opset1.Transpose(%[[A]], %{{.*}}) {name = "out"} : tensor<2x?x3x8xf32>
moir.model @masked {
  %q = opset1.Parameter() {name = "q"} : tensor<2x?x3x8xf32>
  %k = opset1.Relu(%q) : tensor<2x?x3x8xf32>
  %m = opset1.Parameter() {name = "m"} : tensor<1x1xf32>
  %mask = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
  %1 = opset7.Einsum(%q, %k) {equation = "bqhd,bkhd->bhqk"} : tensor<2x3x?x?xf32>
  %2 = opset1.Multiply(%1, %s) : tensor<2x3x?x?xf32>
  %3 = opset1.Add(%2, %mask) : tensor<2x3x?x?xf32>
  %4 = opset8.Softmax(%3) {axis = 3} : tensor<2x3x?x?xf32>
  %5 = opset7.Einsum(%4, %k) {equation = "bhqk,bkhd->bqhd", name = "out"} : tensor<2x?x3x8xf32>
  opset1.Result(%5) {name = "y"}
}

// -----

// Groups of queries share keys and values; a Transpose stands between the products.
// CHECK-LABEL: @grouped
// CHECK:           %[[Q:.*]] = opset1.Reshape(%{{.*}}, %{{.*}}) {special_zero = true} : tensor<2x3x?x8xf32>
// CHECK:           %[[A:.*]] = opset13.ScaledDotProductAttention(%[[Q]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}})
// CHECK:           opset1.Reshape(%[[A]], %{{.*}}) {special_zero = true} : tensor<2x3x4x?x8xf32>
moir.model @grouped {
  %q = opset1.Parameter() {name = "q"} : tensor<2x?x12x8xf32>
  %shape = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [2, -1, 3, 4, 8]>} : tensor<5xsi64>
  %g = opset1.Reshape(%q, %shape) {special_zero = false} : tensor<2x?x3x4x8xf32>
  %kv = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, -1, 3, 8]>} : tensor<4xsi64>
  %p = opset1.Parameter() {name = "k"} : tensor<2x?x24xf32>
  %k = opset1.Reshape(%p, %kv) {special_zero = false} : tensor<2x?x3x8xf32>
  %o = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [1, 0, 2, 3, 4]>} : tensor<5xsi64>
  %1 = opset7.Einsum(%g, %k) {equation = "bqhgd,bkhd->hbgqk"} : tensor<3x2x4x?x?xf32>
  %2 = opset1.Transpose(%1, %o) : tensor<2x3x4x?x?xf32>
  %3 = opset8.Softmax(%2) {axis = 4} : tensor<2x3x4x?x?xf32>
  %4 = opset7.Einsum(%3, %k) {equation = "bhgqk,bkhd->bqhgd", name = "out"} : tensor<2x?x3x4x8xf32>
  opset1.Result(%4) {name = "y"}
}

// -----

// The weights are used elsewhere, and values have another number of heads.
// CHECK-LABEL: @declined
// CHECK-NOT:     ScaledDotProductAttention
// CHECK:         opset1.Result
moir.model @declined {
  %q = opset1.Parameter() {name = "q"} : tensor<2x5x3x8xf32>
  %v = opset1.Parameter() {name = "v"} : tensor<2x5x8xf32>
  %1 = opset7.Einsum(%q, %q) {equation = "bqhd,bkhd->bhqk"} : tensor<2x3x5x5xf32>
  %2 = opset8.Softmax(%1) {axis = 3} : tensor<2x3x5x5xf32>
  %3 = opset7.Einsum(%2, %v) {equation = "bhqk,bkd->bqhd"} : tensor<2x5x3x8xf32>
  %4 = opset7.Einsum(%2, %q) {equation = "bhqk,bkhd->bqhd"} : tensor<2x5x3x8xf32>
  opset1.Result(%3) {name = "y"}
  opset1.Result(%4) {name = "z"}
}
