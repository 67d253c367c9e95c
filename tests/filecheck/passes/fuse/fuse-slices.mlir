// RUN: moir-opt %s -p "fuse-slices,eliminate-dead" --split-input-file | filecheck %s

// Slices of different axes, counted from either end.
// CHECK-LABEL: moir.model @merges
// CHECK-COUNT-1: opset8.Slice
// CHECK-NOT:     opset8.Slice
builtin.module {
  moir.model @merges {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %a, %e, %a, %a) : tensor<?x2x4xf32>
    %2 = opset8.Slice(%1, %a, %e, %a, %b) : tensor<?x2x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Slices of one axis stay.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset8.Slice
// CHECK:           opset8.Slice
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %a, %e, %a, %b) : tensor<?x3x2xf32>
    %2 = opset8.Slice(%1, %a, %e, %a, %b) : tensor<?x3x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}
