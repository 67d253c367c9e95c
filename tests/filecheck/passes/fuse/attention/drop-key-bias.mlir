// RUN: moir-opt %s -p "drop-key-bias,eliminate-dead" --split-input-file | filecheck %s

// The bias of a projection, before the heads are split; that of the values stays.
// CHECK-LABEL: moir.model @bias
// CHECK:           %[[PRODUCT:.*]] = opset1.MatMul(%x, %w) : tensor<?x?x48xf32>
// CHECK:           %[[KEYS:.*]] = opset1.Transpose
// CHECK:           %[[HEADS:.*]] = opset1.Reshape(%[[PRODUCT]], %heads) {special_zero = true}
// CHECK-NEXT:      %[[K:.*]] = opset1.Transpose(%[[HEADS]], %order)
// CHECK-NEXT:      opset13.ScaledDotProductAttention(%[[KEYS]], %[[K]], %[[KEYS]]) {causal = true, name = "last"}
builtin.module {
  moir.model @bias {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x48xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<48x48xf32>, elided "w">} : tensor<48x48xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %heads = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 4, 12]>} : tensor<4xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %1 = opset1.MatMul(%x, %w) : tensor<?x?x48xf32>
    %2 = opset1.Add(%1, %bias) : tensor<?x?x48xf32>
    %3 = opset1.Reshape(%2, %heads) {special_zero = true} : tensor<?x?x4x12xf32>
    %k = opset1.Transpose(%3, %order) : tensor<?x4x?x12xf32>
    %4 = opset1.Reshape(%x, %heads) {special_zero = true} : tensor<?x?x4x12xf32>
    %q = opset1.Transpose(%4, %order) : tensor<?x4x?x12xf32>
    %5 = opset13.ScaledDotProductAttention(%q, %k, %q) {causal = true, name = "last"} : tensor<?x4x?x12xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// After the split, with one vector for each head.
// CHECK-LABEL: moir.model @heads
// CHECK-NOT:       opset1.Add
builtin.module {
  moir.model @heads {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?x2xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>} : tensor<1x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, elided "w">} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<?x4x?x2xf32>
    %k = opset1.Add(%bias, %0) : tensor<?x4x?x2xf32>
    %1 = opset13.ScaledDotProductAttention(%x, %k, %x) {causal = false} : tensor<?x4x?x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Numbers that differ from key to key, keys with other uses, and a Reshape that merges keys.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-3:   opset1.Add
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x2x2xf32>
    %places = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %merged = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 4, 2]>} : tensor<4xsi64>
    %1 = opset1.Add(%x, %places) : tensor<?x4x2x2xf32>
    %2 = opset13.ScaledDotProductAttention(%x, %1, %x) {causal = false} : tensor<?x4x2x2xf32>
    opset1.Result(%2) {name = "places"}
    %3 = opset1.Add(%x, %bias) : tensor<?x4x2x2xf32>
    %4 = opset13.ScaledDotProductAttention(%x, %3, %3) {causal = false} : tensor<?x4x2x2xf32>
    opset1.Result(%4) {name = "used"}
    %5 = opset1.Add(%x, %places) : tensor<?x4x2x2xf32>
    %6 = opset1.Reshape(%5, %merged) {special_zero = true} : tensor<?x2x4x2xf32>
    %7 = opset1.Reshape(%x, %merged) {special_zero = true} : tensor<?x2x4x2xf32>
    %8 = opset13.ScaledDotProductAttention(%7, %6, %7) {causal = false} : tensor<?x2x4x2xf32>
    opset1.Result(%8) {name = "merged"}
  }
}

// -----

// A number that is added to all scores changes their proportion to a sink.
// CHECK-LABEL: moir.model @sinks
// CHECK:           opset1.Add(%x, %bias)
builtin.module {
  moir.model @sinks {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x2x2xf32>
    %q = opset1.Parameter() {name = "q"} : tensor<?x4x2x2xf32>
    %mask = opset1.Parameter() {name = "m"} : tensor<2x2xf32>
    %sinks = opset1.Parameter() {name = "s"} : tensor<1x4x1x1xf32>
    %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %bias = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.Add(%x, %bias) : tensor<?x4x2x2xf32>
    %2 = opset13.ScaledDotProductAttention(%q, %1, %x, %mask, %half, %sinks) {causal = false} : tensor<?x4x2x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}
