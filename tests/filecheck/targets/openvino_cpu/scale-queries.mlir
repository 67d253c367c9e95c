// RUN: moir-opt %s -p scale-queries,eliminate-dead --split-input-file | filecheck %s

// Keys that are a part of another tensor.
// CHECK-LABEL: moir.model @packed
// CHECK:           %[[QUERY:.*]] = opset1.Multiply(%q, %{{.*}}) : tensor<?x3x?x16xf32>
// CHECK:           %[[ONE:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>}
// CHECK-NEXT:      opset13.ScaledDotProductAttention(%[[QUERY]], %k, %q, %mask, %[[ONE]]) {name = "last"}
builtin.module {
  moir.model @packed {
    %x = opset1.Parameter() {name = "x"} : tensor<2x?x3x?x16xf32>
    %mask = opset1.Parameter() {name = "mask"} : tensor<1x1x?x?xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %0, %1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x?x3x?x16xf32>, tensor<1x?x3x?x16xf32>
    %q = opset1.Squeeze(%0, %front) : tensor<?x3x?x16xf32>
    %k = opset1.Squeeze(%1, %front) : tensor<?x3x?x16xf32>
    %2 = opset13.ScaledDotProductAttention(%q, %k, %q, %mask) {causal = false, name = "last"} : tensor<?x3x?x16xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Keys with a Transpose of their own, a scale of 1, and a width that is unknown.
// CHECK-LABEL: moir.model @kept
// CHECK-NOT:       opset1.Multiply
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3x16xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x?x3x?x?xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %k = opset1.Transpose(%x, %order) : tensor<?x3x?x16xf32>
    %1 = opset13.ScaledDotProductAttention(%k, %k, %k) {causal = false} : tensor<?x3x?x16xf32>
    %p = opset8.Gather(%z, %axis, %axis) : tensor<?x3x?x?xf32>
    %2 = opset13.ScaledDotProductAttention(%p, %p, %p) {causal = false} : tensor<?x3x?x?xf32>
    %3 = opset13.ScaledDotProductAttention(%p, %p, %p, %one, %one) {causal = false} : tensor<?x3x?x?xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}
