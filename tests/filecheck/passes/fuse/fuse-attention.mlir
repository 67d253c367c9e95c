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
