// RUN: moir-opt %s -p unsqueeze-cell-biases --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @list
// CHECK:           %0 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x6xf32>
// CHECK-NEXT:      %1 = opset1.MatMul(%0, %w) {transpose_b = true} : tensor<2x2xf32>
// CHECK-NEXT:      %2 = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>} : tensor<1x2xf32>
// CHECK-NEXT:      %3 = opset1.Add(%1, %2) {name = "s"} : tensor<2x2xf32>
builtin.module {
  moir.model @list {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x6xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x6xf32>
    %2 = opset1.MatMul(%1, %w) {transpose_b = true} : tensor<2x2xf32>
    %3 = opset1.Add(%2, %b) {name = "s"} : tensor<2x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @rows
// CHECK:           %0 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x6xf32>
// CHECK-NEXT:      %1 = opset1.MatMul(%0, %w) {transpose_b = true} : tensor<2x2xf32>
// CHECK-NEXT:      %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [0xFF800000]>} : tensor<f32>
// CHECK-NEXT:      %3 = opset1.Maximum(%2, %1) : tensor<2x2xf32>
// CHECK-NEXT:      %4 = opset1.Add(%3, %b) : tensor<2x2xf32>
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x6xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
    %1 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x6xf32>
    %2 = opset1.MatMul(%1, %w) {transpose_b = true} : tensor<2x2xf32>
    %3 = opset1.Add(%b, %2) : tensor<2x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A row, and a product of what is not joined.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Maximum
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<2x6xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2x3xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>} : tensor<1x2xf32>
    %1 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x6xf32>
    %2 = opset1.MatMul(%1, %w) {transpose_b = true} : tensor<2x2xf32>
    %3 = opset1.Add(%2, %c) : tensor<2x2xf32>
    %4 = opset1.MatMul(%x, %v) {transpose_b = true} : tensor<2x2xf32>
    %5 = opset1.Add(%4, %b) : tensor<2x2xf32>
    opset1.Result(%3) {name = "a"}
    opset1.Result(%5) {name = "b"}
  }
}
