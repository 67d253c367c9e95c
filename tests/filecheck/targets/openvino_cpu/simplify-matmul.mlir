// RUN: moir-opt %s -p simplify-matmul --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @single
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [3.0]>} : tensor<1xf32>
// CHECK-NEXT:      %1 = opset1.Multiply(%x, %0) {name = "y"} : tensor<?x1xf32>
// CHECK-NEXT:      opset1.Result(%1)
builtin.module {
  moir.model @single {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [3.0]>} : tensor<1x1xf32>
    %1 = opset1.MatMul(%x, %w) {transpose_b = true, name = "y"} : tensor<?x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A list, and a value of any rank.
// CHECK-LABEL: moir.model @ranks
// CHECK:           opset1.Multiply(%x, %{{.*}}) {name = "a"} : tensor<1xf32>
// CHECK:           opset1.Multiply(%y, %{{.*}}) {name = "b"} : tensor<*xf32>
builtin.module {
  moir.model @ranks {
    %x = opset1.Parameter() {name = "x"} : tensor<1xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<*xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [3.0]>} : tensor<1x1xf32>
    %1 = opset1.MatMul(%x, %w) {name = "a"} : tensor<1xf32>
    %2 = opset1.MatMul(%y, %w) {name = "b"} : tensor<*xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Rows become columns, more weights, weights that are computed.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Multiply
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<1x5xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<5x1xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [3.0]>} : tensor<1x1xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [3.0, 4.0]>} : tensor<1x2xf32>
    %1 = opset1.MatMul(%x, %w) {transpose_a = true} : tensor<5x1xf32>
    %2 = opset1.MatMul(%y, %v) : tensor<5x2xf32>
    %3 = opset1.MatMul(%y, %z) : tensor<5x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}

// -----

// Dequantized weights of four dimensions. Those of several matrices stay.
// CHECK-LABEL: moir.model @dequantized
// CHECK:           %[[Q:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1xsi8>, [4, 5]>} : tensor<2x1xsi8>
// CHECK-NEXT:      %[[C:.*]] = opset1.Convert(%[[Q]]) {destination_type = f32} : tensor<2x1xf32>
// CHECK-NEXT:      %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [0.5]>} : tensor<1x1xf32>
// CHECK-NEXT:      %[[W:.*]] = opset1.Multiply(%[[C]], %[[S]]) : tensor<2x1xf32>
// CHECK-NEXT:      opset1.MatMul(%x, %[[W]]) {name = "a"} : tensor<?x?x?x1xf32>
// CHECK:           %[[P:.*]] = opset1.MatMul(%y, %{{.*}}) : tensor<3x1xf32>
// CHECK:           opset1.Unsqueeze(%[[P]], %{{.*}}) {name = "b"} : tensor<1x1x3x1xf32>
// CHECK:           opset1.MatMul(%x, %{{.*}}) {name = "c"} : tensor<?x2x?x1xf32>
builtin.module {
  moir.model @dequantized {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?x2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x2xf32>
    %q = opset1.Constant() {value = #moir.data<tensor<1x1x2x1xsi8>, [4, 5]>} : tensor<1x1x2x1xsi8>
    %r = opset1.Constant() {value = #moir.data<tensor<1x2x2x1xsi8>, [4, 5, 6, 7]>} : tensor<1x2x2x1xsi8>
    %s = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [0.5]>} : tensor<1x1x1x1xf32>
    %c = opset1.Convert(%q) {destination_type = f32} : tensor<1x1x2x1xf32>
    %w = opset1.Multiply(%c, %s) : tensor<1x1x2x1xf32>
    %d = opset1.Convert(%r) {destination_type = f32} : tensor<1x2x2x1xf32>
    %v = opset1.Multiply(%d, %s) : tensor<1x2x2x1xf32>
    %1 = opset1.MatMul(%x, %w) {name = "a"} : tensor<?x?x?x1xf32>
    %2 = opset1.MatMul(%y, %w) {name = "b"} : tensor<1x1x3x1xf32>
    %3 = opset1.MatMul(%x, %v) {name = "c"} : tensor<?x2x?x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}
