// RUN: moir-opt %s -p "fuse-attention,eliminate-dead" --split-input-file | filecheck %s

// With a mask and a scale.
// CHECK-LABEL: moir.model @fuses
// CHECK:           %[[SCALE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>}
// CHECK-NEXT:    opset13.ScaledDotProductAttention(%[[Q:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[SCALE]]) {name = "last"}
builtin.module {
  moir.model @fuses {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x?x8xf32>
    %mask = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x?x?xf32>
    %2 = opset1.Divide(%1, %s) : tensor<2x4x?x?xf32>
    %3 = opset1.Add(%2, %mask) : tensor<2x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x?x?xf32>
    %5 = opset1.MatMul(%4, %v) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// The scores are used elsewhere.
// CHECK-LABEL: moir.model @used
// CHECK-NOT:     ScaledDotProductAttention
// CHECK:           opset8.Softmax
builtin.module {
  moir.model @used {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x?x8xf32>
    %mask = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.0]>} : tensor<1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x?x?xf32>
    %2 = opset1.Divide(%1, %s) : tensor<2x4x?x?xf32>
    %3 = opset1.Add(%2, %mask) : tensor<2x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x?x?xf32>
    %5 = opset1.MatMul(%4, %v) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%5) {name = "y"}
    opset1.Result(%4) {name = "scores"}
  }
}

// -----

// A mask that may enlarge the scores.
// CHECK-LABEL: moir.model @mask
// CHECK-NOT:     ScaledDotProductAttention
// CHECK:           opset8.Softmax
builtin.module {
  moir.model @mask {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x?x8xf32>
    %mask = opset1.Parameter() {name = "m"} : tensor<?x?xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x?x?xf32>
    %2 = opset1.Divide(%1, %s) : tensor<2x4x?x?xf32>
    %3 = opset1.Add(%2, %mask) : tensor<2x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x?x?xf32>
    %5 = opset1.MatMul(%4, %v) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// The scale is split over query and key, and the heads of the key are repeated outside.
// CHECK-LABEL: moir.model @split_scale
// CHECK:           %[[Q:.*]] = opset1.Parameter() {name = "q"}
// CHECK-NEXT:      %[[HALF:.*]] = opset1.Parameter() {name = "k"}
// CHECK-NEXT:      %[[K:.*]] = opset1.Concat(%[[HALF]], %[[HALF]])
// CHECK:           %[[SCALE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.125]>}
// CHECK-NEXT:      opset13.ScaledDotProductAttention(%[[Q]], %[[K]], %[[K]], %{{.*}}, %[[SCALE]]) {name = "last"}
builtin.module {
  moir.model @split_scale {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %half = opset1.Parameter() {name = "k"} : tensor<2x2x?x8xf32>
    %k = opset1.Concat(%half, %half) {axis = 1} : tensor<2x4x?x8xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %t = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %1 = opset1.Multiply(%q, %s) : tensor<2x4x?x8xf32>
    %2 = opset1.Divide(%k, %t) : tensor<2x4x?x8xf32>
    %3 = opset1.MatMul(%1, %2) {transpose_b = true} : tensor<2x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x?x?xf32>
    %5 = opset1.MatMul(%4, %k) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// A factor with other uses stays outside.
// CHECK-LABEL: moir.model @used_factor
// CHECK:           %[[SCALED:.*]] = opset1.Multiply
// CHECK:           opset13.ScaledDotProductAttention(%[[SCALED]],
builtin.module {
  moir.model @used_factor {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %1 = opset1.Multiply(%q, %s) : tensor<2x4x?x8xf32>
    %2 = opset1.MatMul(%1, %q) {transpose_b = true} : tensor<2x4x?x?xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x4x?x?xf32>
    %4 = opset1.MatMul(%3, %q) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%1) {name = "scaled"}
  }
}

// -----

// Scores that a low number replaces where a condition is false.
// CHECK-LABEL: moir.model @allowed
// CHECK:           %[[C:.*]] = opset1.Parameter() {name = "c"}
// CHECK:           %[[ZERO:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>}
// CHECK-NEXT:      %[[LOW:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.3895314e+38]>}
// CHECK-NEXT:      %[[MASK:.*]] = opset1.Select(%[[C]], %[[ZERO]], %[[LOW]])
// CHECK:           opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[MASK]], %{{.*}}) {name = "last"}
builtin.module {
  moir.model @allowed {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x?x8xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<1x1xi1>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.4e+38]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x?x?xf32>
    %2 = opset1.Select(%c, %1, %low) : tensor<2x4x?x?xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x4x?x?xf32>
    %4 = opset1.MatMul(%3, %v) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Where it is true, and the condition is known.
// CHECK-LABEL: moir.model @forbidden
// CHECK-NOT:     Select
// CHECK:           %[[MASK:.*]] = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [-1.0e+30, 0.0]>}
// CHECK:           opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[MASK]], %{{.*}}) {name = "last"}
builtin.module {
  moir.model @forbidden {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x2x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x2x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x2x8xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<1x1xi1>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0e+30]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x2xi1>, [true, false]>} : tensor<1x2xi1>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x2x2xf32>
    %2 = opset1.Select(%b, %low, %1) : tensor<2x4x2x2xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x4x2x2xf32>
    %4 = opset1.MatMul(%3, %v) {name = "last"} : tensor<2x4x2x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// A number that does not absorb the scores.
// CHECK-LABEL: moir.model @absorbs
// CHECK-NOT:     ScaledDotProductAttention
// CHECK:           opset8.Softmax
builtin.module {
  moir.model @absorbs {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x?x8xf32>
    %k = opset1.Relu(%q) : tensor<2x4x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<2x4x?x8xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<1x1xi1>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-10000.0]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<2x4x?x?xf32>
    %2 = opset1.Select(%c, %1, %low) : tensor<2x4x?x?xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x4x?x?xf32>
    %4 = opset1.MatMul(%3, %v) {name = "last"} : tensor<2x4x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// A bias that is added before scores are replaced.
// CHECK-LABEL: moir.model @two_masks
// CHECK:           %[[BIAS:.*]] = opset1.Parameter() {name = "bias"}
// CHECK:           %[[LOW:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.3895314e+38]>}
// CHECK-NEXT:      %[[MASK:.*]] = opset1.Select(%{{.*}}, %[[BIAS]], %[[LOW]])
// CHECK:           opset13.ScaledDotProductAttention(%{{.*}}, %{{.*}}, %{{.*}}, %[[MASK]], %{{.*}}) {name = "last"}
builtin.module {
  moir.model @two_masks {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x3x8xf32>
    %bias = opset1.Parameter() {name = "bias"} : tensor<1x4x3x3xf32>
    %c = opset1.Parameter() {name = "c"} : tensor<1x1xi1>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-3.4e+38]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<2x4x3x3xf32>
    %2 = opset1.Add(%bias, %1) : tensor<2x4x3x3xf32>
    %3 = opset1.Select(%c, %2, %low) : tensor<2x4x3x3xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x3x3xf32>
    %5 = opset1.MatMul(%4, %q) {name = "last"} : tensor<2x4x3x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Two additions, and values that the second product transposes.
// CHECK-LABEL: moir.model @two_additions
// CHECK-DAG:       %[[SUM:.*]] = opset1.Add(%a, %b)
// CHECK-DAG:       %[[V:.*]] = opset1.Transpose(%v, %{{.*}})
// CHECK:           opset13.ScaledDotProductAttention(%q, %q, %[[V]], %[[SUM]], %{{.*}}) {name = "last"}
builtin.module {
  moir.model @two_additions {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x3x8xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2x4x8x3xf32>
    %a = opset1.Parameter() {name = "a"} : tensor<1x4x1x3xf32>
    %b = opset1.Parameter() {name = "b"} : tensor<3xf32>
    %1 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<2x4x3x3xf32>
    %2 = opset1.Add(%1, %a) : tensor<2x4x3x3xf32>
    %3 = opset1.Add(%2, %b) : tensor<2x4x3x3xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<2x4x3x3xf32>
    %5 = opset1.MatMul(%4, %v) {transpose_b = true, name = "last"} : tensor<2x4x3x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// A mask of another input: the keys are those of the values, and the Reshape needs the batch of the data.
// CHECK-LABEL: moir.model @required
// CHECK:           opset13.ScaledDotProductAttention
// CHECK-NOT:       Softmax
builtin.module {
  moir.model @required {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x32xf32>
    %mask = opset1.Parameter() {name = "m"} : tensor<?x1x1x?xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<32x32xf32>, elided "w">} : tensor<32x32xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<32xf32>, elided "b">} : tensor<32xf32>
    %s = opset3.ShapeOf(%x) : tensor<3xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %first = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>} : tensor<2xsi64>
    %lead = opset8.Gather(%s, %first, %axis) : tensor<2xsi64>
    %heads = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 8]>} : tensor<2xsi64>
    %width = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [32]>} : tensor<1xsi64>
    %split = opset1.Concat(%lead, %heads) {axis = 0} : tensor<4xsi64>
    %joined = opset1.Concat(%lead, %width) {axis = 0} : tensor<3xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 32]>} : tensor<2xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %split) {special_zero = false} : tensor<?x?x4x8xf32>
    %q = opset1.Transpose(%1, %order) : tensor<?x4x?x8xf32>
    %2 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x4x?x?xf32>
    %3 = opset1.Add(%2, %mask) : tensor<?x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<?x4x?x?xf32>
    %5 = opset1.MatMul(%4, %q) : tensor<?x4x?x8xf32>
    %6 = opset1.Transpose(%5, %order) : tensor<?x?x4x8xf32>
    %7 = opset1.Reshape(%6, %flat) {special_zero = false} : tensor<?x32xf32>
    %8 = opset1.MatMul(%7, %w) : tensor<?x32xf32>
    %9 = opset1.Add(%8, %bias) : tensor<?x32xf32>
    %10 = opset1.Reshape(%9, %joined) {special_zero = false} : tensor<?x?x32xf32>
    opset1.Result(%10) {name = "y"}
  }
}

// -----

// The same with a number of samples that follows from the others.
// CHECK-LABEL: moir.model @not_required
// CHECK-NOT:       ScaledDotProductAttention
// CHECK:           opset8.Softmax
builtin.module {
  moir.model @not_required {
    %q = opset1.Parameter() {name = "q"} : tensor<?x4x?x8xf32>
    %mask = opset1.Parameter() {name = "m"} : tensor<?x1x1x?xf32>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 8]>} : tensor<2xsi64>
    %2 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x4x?x?xf32>
    %3 = opset1.Add(%2, %mask) : tensor<?x4x?x?xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<?x4x?x?xf32>
    %5 = opset1.MatMul(%4, %q) : tensor<?x4x?x8xf32>
    %6 = opset1.Reshape(%5, %flat) {special_zero = false} : tensor<?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// Weights that are NaN become 0: with -inf in the mask, results of queries without keys do.
// CHECK-LABEL: moir.model @guarded
// CHECK:           %[[Y:.*]] = opset13.ScaledDotProductAttention(%q, %q, %q, %mask, %{{.*}})
// CHECK:           %[[MASKED:.*]] = opset1.Equal(%mask, %{{.*}})
// CHECK:           %[[NONE:.*]] = opset1.ReduceLogicalAnd(%[[MASKED]], %{{.*}}) {keep_dims = true}
// CHECK:           opset1.Select(%[[NONE]], %{{.*}}, %[[Y]]) {name = "last"} : tensor<2x4x3x8xf32>
builtin.module {
  moir.model @guarded {
    %q = opset1.Parameter() {name = "q"} : tensor<2x4x3x8xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<1x1x3x3xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %1 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<2x4x3x3xf32>
    %2 = opset1.Add(%1, %mask) : tensor<2x4x3x3xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x4x3x3xf32>
    %4 = opset10.IsNaN(%3) : tensor<2x4x3x3xi1>
    %5 = opset1.Select(%4, %zero, %3) : tensor<2x4x3x3xf32>
    %6 = opset1.MatMul(%5, %q) {name = "last"} : tensor<2x4x3x8xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// A factor of the product for each head multiplies the query.
// CHECK-LABEL: moir.model @heads
// CHECK:           %[[Q:.*]] = opset1.Multiply(%q, %c)
// CHECK:           opset13.ScaledDotProductAttention(%[[Q]], %q, %q, %mask, %{{.*}}) {name = "last"}
builtin.module {
  moir.model @heads {
    %q = opset1.Parameter() {name = "q"} : tensor<?x2x3x8xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 3.0]>} : tensor<2x1x1xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<1x2x3x3xf32>
    %1 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x2x3x3xf32>
    %2 = opset1.Multiply(%1, %c) : tensor<?x2x3x3xf32>
    %3 = opset1.Add(%2, %mask) : tensor<?x2x3x3xf32>
    %4 = opset8.Softmax(%3) {axis = -1} : tensor<?x2x3x3xf32>
    %5 = opset1.MatMul(%4, %q) {name = "last"} : tensor<?x2x3x8xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// A factor that repeats the product for each head, and one for each query and key.
// CHECK-LABEL: moir.model @repeats
// CHECK-NOT:     ScaledDotProductAttention
builtin.module {
  moir.model @repeats {
    %q = opset1.Parameter() {name = "q"} : tensor<2x1x3x8xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 3.0]>} : tensor<2x1x1xf32>
    %d = opset1.Constant() {value = #moir.data<tensor<1x3x1xf32>, [2.0, 3.0, 4.0]>} : tensor<1x3x1xf32>
    %1 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<2x1x3x3xf32>
    %2 = opset1.Multiply(%1, %c) : tensor<2x2x3x3xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x2x3x3xf32>
    %4 = opset1.MatMul(%3, %q) : tensor<2x2x3x8xf32>
    %5 = opset1.Multiply(%1, %d) : tensor<2x1x3x3xf32>
    %6 = opset8.Softmax(%5) {axis = -1} : tensor<2x1x3x3xf32>
    %7 = opset1.MatMul(%6, %q) : tensor<2x1x3x8xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%7) {name = "z"}
  }
}

// -----

// The mask is made from the shape of the scaled product: it is that of the query but for the keys.
// CHECK-LABEL: moir.model @shape_of_scores
// CHECK:           %[[SHAPE:.*]] = opset3.ShapeOf(%q) {output_type = si32, name = "shape"} : tensor<4xsi32>
// CHECK-NEXT:      opset8.Gather(%[[SHAPE]], %rows, %zero) : tensor<2xsi32>
// CHECK:           opset13.ScaledDotProductAttention(%q, %q, %q,
builtin.module {
  moir.model @shape_of_scores {
    %q = opset1.Parameter() {name = "q"} : tensor<?x4x?x8xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 2]>} : tensor<2xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %scale = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0e38]>} : tensor<f32>
    %0 = opset1.MatMul(%q, %q) {transpose_b = true} : tensor<?x4x?x?xf32>
    %1 = opset1.Multiply(%0, %scale) : tensor<?x4x?x?xf32>
    %2 = opset3.ShapeOf(%1) {output_type = si32, name = "shape"} : tensor<4xsi32>
    %3 = opset8.Gather(%2, %rows, %zero) : tensor<2xsi32>
    %4 = opset3.Broadcast(%low, %3) : tensor<?x?xf32>
    %5 = opset1.Add(%1, %4) : tensor<?x4x?x?xf32>
    %6 = opset8.Softmax(%5) {axis = -1} : tensor<?x4x?x?xf32>
    %7 = opset1.MatMul(%6, %q) : tensor<?x4x?x8xf32>
    opset1.Result(%7) {name = "y"}
  }
}

// -----

// The number of keys is used, so that the shape stays one of the product.
// CHECK-LABEL: moir.model @shape_of_keys
// CHECK:           opset3.ShapeOf(%{{[0-9]+}})
// CHECK-NOT:       ScaledDotProductAttention
builtin.module {
  moir.model @shape_of_keys {
    %q = opset1.Parameter() {name = "q", dimension_names = ["n", "", "", ""]} : tensor<?x4x?x8xf32>
    %k = opset1.Parameter() {name = "k", dimension_names = ["n", "", "", ""]} : tensor<?x4x?x8xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0e38]>} : tensor<f32>
    %0 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<?x4x?x?xf32>
    %1 = opset3.ShapeOf(%0) : tensor<4xsi64>
    %2 = opset8.Gather(%1, %last, %zero) : tensor<2xsi64>
    %3 = opset3.Broadcast(%low, %2) : tensor<?x?xf32>
    %4 = opset1.Add(%0, %3) : tensor<?x4x?x?xf32>
    %5 = opset8.Softmax(%4) {axis = -1} : tensor<?x4x?x?xf32>
    %6 = opset1.MatMul(%5, %k) : tensor<?x4x?x8xf32>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// Batch and heads as one dimension, and as three.
// CHECK-LABEL: moir.model @other_ranks
// CHECK:           opset13.ScaledDotProductAttention(%q, %k, %v, {{.*}}) {name = "three"} : tensor<?x?x8xf32>
// CHECK:           opset13.ScaledDotProductAttention({{.*}}) {name = "five"} : tensor<?x2x3x?x8xf32>
builtin.module {
  moir.model @other_ranks {
    %q = opset1.Parameter() {name = "q"} : tensor<?x?x8xf32>
    %k = opset1.Relu(%q) : tensor<?x?x8xf32>
    %v = opset1.Tanh(%q) : tensor<?x?x8xf32>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<?x?x?xf32>
    %2 = opset8.Softmax(%1) {axis = 2} : tensor<?x?x?xf32>
    %3 = opset1.MatMul(%2, %v) {name = "three"} : tensor<?x?x8xf32>
    opset1.Result(%3) {name = "y"}
    %a = opset1.Parameter() {name = "a"} : tensor<?x2x3x?x8xf32>
    %b = opset1.Relu(%a) : tensor<?x2x3x?x8xf32>
    %c = opset1.Tanh(%a) : tensor<?x2x3x?x8xf32>
    %4 = opset1.MatMul(%a, %b) {transpose_b = true} : tensor<?x2x3x?x?xf32>
    %5 = opset8.Softmax(%4) {axis = 4} : tensor<?x2x3x?x?xf32>
    %6 = opset1.MatMul(%5, %c) {name = "five"} : tensor<?x2x3x?x8xf32>
    opset1.Result(%6) {name = "z"}
  }
}

// -----

// Unknown batches of two inputs are repeated by the fused operation as by the products; two heads are not four.
// CHECK-LABEL: moir.model @two_inputs
// CHECK:           opset13.ScaledDotProductAttention(%q, %k, %k, {{.*}}) {name = "batches"}
// CHECK-NOT:       opset13.ScaledDotProductAttention
// CHECK:           opset1.MatMul(%{{.*}}, %h) {name = "heads"}
builtin.module {
  moir.model @two_inputs {
    %q = opset1.Parameter() {name = "q"} : tensor<?x4x?x8xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<?x4x?x8xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x?x8xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 4, -1, 8]>} : tensor<4xsi64>
    %u = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, -1, 8]>} : tensor<4xsi64>
    %1 = opset1.MatMul(%q, %k) {transpose_b = true} : tensor<?x4x?x?xf32>
    %2 = opset8.Softmax(%1) {axis = -1} : tensor<?x4x?x?xf32>
    %3 = opset1.MatMul(%2, %k) {name = "batches"} : tensor<?x4x?x8xf32>
    opset1.Result(%3) {name = "y"}
    %4 = opset1.Reshape(%q, %t) {special_zero = true} : tensor<?x4x?x8xf32>
    %5 = opset1.Reshape(%h, %u) {special_zero = true} : tensor<?x1x?x8xf32>
    %6 = opset1.MatMul(%4, %5) {transpose_b = true} : tensor<?x4x?x?xf32>
    %7 = opset8.Softmax(%6) {axis = -1} : tensor<?x4x?x?xf32>
    %8 = opset1.MatMul(%7, %h) {name = "heads"} : tensor<?x4x?x8xf32>
    opset1.Result(%8) {name = "z"}
  }
}
