// RUN: moir-opt %s -p "fuse-depth-to-space,eliminate-dead" --split-input-file | filecheck %s

// Blocks are the outer part of the channels.
// CHECK-LABEL: moir.model @blocks_first
// CHECK:           opset1.DepthToSpace(%{{.*}}) {block_size = 2, mode = "blocks_first", name = "last"} : tensor<?x3x10x14xf32>
builtin.module {
  moir.model @blocks_first {
    %x = opset1.Parameter() {name = "x"} : tensor<?x12x5x7xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 2, 2, 3, 5, 7]>} : tensor<6xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 4, 1, 5, 2]>} : tensor<6xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 10, 14]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x2x2x3x5x7xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x5x2x7x2xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x3x10x14xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Blocks are the inner part.
// CHECK-LABEL: moir.model @depth_first
// CHECK:           opset1.DepthToSpace(%{{.*}}) {block_size = 2, mode = "depth_first", name = "last"}
builtin.module {
  moir.model @depth_first {
    %x = opset1.Parameter() {name = "x"} : tensor<?x12x5x7xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 2, 2, 5, 7]>} : tensor<6xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 1, 4, 2, 5, 3]>} : tensor<6xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 10, 14]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x3x2x2x5x7xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x5x2x7x2xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x3x10x14xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Rows and columns of the block have changed places.
// CHECK-LABEL: moir.model @other
// CHECK-NOT:     DepthToSpace
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @other {
    %x = opset1.Parameter() {name = "x"} : tensor<?x12x5x7xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 2, 2, 3, 5, 7]>} : tensor<6xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<6xsi64>, [0, 3, 4, 2, 5, 1]>} : tensor<6xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 10, 14]>} : tensor<4xsi64>
    %1 = opset1.Reshape(%x, %a) {special_zero = true} : tensor<?x2x2x3x5x7xf32>
    %2 = opset1.Transpose(%1, %o) : tensor<?x3x5x2x7x2xf32>
    %3 = opset1.Reshape(%2, %b) {special_zero = true, name = "last"} : tensor<?x3x10x14xf32>
    opset1.Result(%3) {name = "y"}
  }
}
