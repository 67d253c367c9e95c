// RUN: moir-opt %s -p "fuse-space-to-depth,eliminate-dead" --split-input-file | filecheck %s

// Blocks become the outer part of the channels.
// CHECK-LABEL: moir.model @blocks_first
// CHECK:           opset1.SpaceToDepth(%{{.*}}) {block_size = 2, mode = "blocks_first", name = "last"} : tensor<?x12x4x5xf32>
builtin.module {
  moir.model @blocks_first {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x8x10xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 4, 2, 5, 2]>} : tensor<6xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 5, 1, 2, 4]>} : tensor<6xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 12, 4, 5]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x3x4x2x5x2xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x2x2x3x4x5xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x12x4x5xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The first dimension is split the other way round.
// CHECK-LABEL: moir.model @other
// CHECK-NOT:     SpaceToDepth
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @other {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x8x10xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 2, 4, 5, 2]>} : tensor<6xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 5, 1, 2, 4]>} : tensor<6xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 24, 2, 5]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x3x2x4x5x2xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x4x2x3x2x5xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x24x2x5xf32>
    opset1.Result(%3) {name = "y"}
  }
}
