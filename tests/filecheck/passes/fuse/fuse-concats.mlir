// RUN: moir-opt %s -p "fuse-concats,eliminate-dead" --split-input-file | filecheck %s

// Along one axis, counted from either end, in chains.
// CHECK-LABEL: moir.model @merged
// CHECK:           opset1.Concat(%x, %y, %z, %x, %y) {axis = 1, name = "c"} : tensor<2x?xf32>
// CHECK-NOT:       opset1.Concat
builtin.module {
  moir.model @merged {
    %x = opset1.Parameter() {name = "x"} : tensor<2x?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x?xf32>
    %1 = opset1.Concat(%y, %z) {axis = -1} : tensor<2x?xf32>
    %2 = opset1.Concat(%x, %1) {axis = 1} : tensor<2x?xf32>
    %3 = opset1.Concat(%x, %y) {axis = 1} : tensor<2x?xf32>
    %4 = opset1.Concat(%2, %3) {axis = 1, name = "c"} : tensor<2x?xf32>
    opset1.Result(%4) {name = "r"}
  }
}

// -----

// What something else uses, and another axis, stays.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-4:   opset1.Concat
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %1 = opset1.Concat(%x, %x) {axis = 0} : tensor<4x2xf32>
    %2 = opset1.Concat(%1, %1) {axis = 1} : tensor<4x4xf32>
    opset1.Result(%2) {name = "axes"}
    %3 = opset1.Concat(%x, %x) {axis = 1} : tensor<2x4xf32>
    %4 = opset1.Concat(%3, %x) {axis = 1} : tensor<2x6xf32>
    opset1.Result(%3) {name = "inner"}
    opset1.Result(%4) {name = "outer"}
  }
}
