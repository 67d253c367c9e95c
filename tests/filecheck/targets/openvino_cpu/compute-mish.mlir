// RUN: moir-opt %s -p compute-mish --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @perceptron
// CHECK:         %[[P:.*]] = opset1.MatMul(%x, %w)
// CHECK:         %[[L:.*]] = opset1.Minimum(%[[P]], %{{.*}})
// CHECK:         %[[E:.*]] = opset1.Exp(%[[L]])
// CHECK:         %[[A:.*]] = opset1.Add(%[[E]], %{{.*}})
// CHECK:         %[[N:.*]] = opset1.Multiply(%[[E]], %[[A]])
// CHECK:         %[[D:.*]] = opset1.Add(%[[N]], %{{.*}})
// CHECK:         %[[R:.*]] = opset1.Divide(%[[N]], %[[D]])
// CHECK:         opset1.Multiply(%[[P]], %[[R]]) {name = "m"}
// CHECK-NOT:     opset4.Mish
builtin.module {
  moir.model @perceptron {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<2x2xf32>
    %1 = opset4.Mish(%0) {name = "m"} : tensor<2x2xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<2x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// After an attention, and not of unknown sizes, nor after anything else.
// CHECK-LABEL: moir.model @attention
// CHECK-COUNT-1: opset1.Exp
// CHECK-NOT:     opset1.Exp
builtin.module {
  moir.model @attention {
    %q = opset1.Parameter() {name = "q"} : tensor<1x4x5x8xf32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %0 = opset13.ScaledDotProductAttention(%q, %q, %q) {causal = false} : tensor<1x4x5x8xf32>
    %1 = opset1.Relu(%0) : tensor<1x4x5x8xf32>
    %2 = opset4.Mish(%1) : tensor<1x4x5x8xf32>
    %3 = opset1.MatMul(%x, %x) {transpose_b = true} : tensor<?x?xf32>
    %4 = opset4.Mish(%3) : tensor<?x?xf32>
    %5 = opset4.Mish(%q) : tensor<1x4x5x8xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
    opset1.Result(%5) {name = "w"}
  }
}

// -----

// The heads of an attention are moved behind its steps before.
// CHECK-LABEL: moir.model @moved_heads
// CHECK:         opset1.Exp
// CHECK-NOT:     opset4.Mish
builtin.module {
  moir.model @moved_heads {
    %a = opset1.Parameter() {name = "a"} : tensor<1x2x2x2xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<1x2x2x4xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %sizes = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 8]>} : tensor<3xsi64>
    %0 = opset1.MatMul(%a, %v) : tensor<1x2x2x4xf32>
    %1 = opset1.Transpose(%0, %order) : tensor<1x2x2x4xf32>
    %2 = opset1.Reshape(%1, %sizes) {special_zero = false} : tensor<1x2x8xf32>
    %3 = opset4.Mish(%2) : tensor<1x2x8xf32>
    opset1.Result(%3) {name = "y"}
  }
}
