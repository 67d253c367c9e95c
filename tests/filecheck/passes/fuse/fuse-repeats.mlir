// RUN: moir-opt %s -p fuse-repeats,eliminate-dead --split-input-file | filecheck %s

// Along two axes, as Keras enlarges images.
// CHECK-LABEL: moir.model @twice
// CHECK:           %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 2.0]>}
// CHECK:           %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>}
// CHECK:           opset11.Interpolate(%x, %[[S]], %[[A]]) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor", mode = "nearest", shape_calculation_mode = "scales", name = "y"} : tensor<?x12x10x2xf32>
// CHECK-NOT:       opset1.Tile
builtin.module {
  moir.model @twice {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x5x2xf32>
    %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %three = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %r = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [1, 1, 3, 1, 1]>} : tensor<5xsi64>
    %q = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [1, 1, 1, 2, 1]>} : tensor<5xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %s = opset3.ShapeOf(%x) : tensor<4xsi64>
    %n = opset8.Gather(%s, %zero, %axis) : tensor<1xsi64>
    %h = opset8.Gather(%s, %one, %axis) : tensor<1xsi64>
    %w = opset8.Gather(%s, %two, %axis) : tensor<1xsi64>
    %c = opset8.Gather(%s, %three, %axis) : tensor<1xsi64>
    %h3 = opset1.Multiply(%h, %three) : tensor<1xsi64>
    %w2 = opset1.Multiply(%w, %two) : tensor<1xsi64>
    %1 = opset1.Unsqueeze(%x, %two) : tensor<?x4x1x5x2xf32>
    %2 = opset1.Tile(%1, %r) : tensor<?x4x3x5x2xf32>
    %t = opset1.Concat(%n, %h3, %w, %c) {axis = 0} : tensor<4xsi64>
    %3 = opset1.Reshape(%2, %t) {special_zero = false} : tensor<?x12x5x2xf32>
    %4 = opset1.Unsqueeze(%3, %three) : tensor<?x12x5x1x2xf32>
    %5 = opset1.Tile(%4, %q) : tensor<?x12x5x2x2xf32>
    %u = opset1.Concat(%n, %h3, %w2, %c) {axis = 0} : tensor<4xsi64>
    %6 = opset1.Reshape(%5, %u) {special_zero = false, name = "y"} : tensor<?x12x10x2xf32>
    opset1.Result(%6) {name = "out"}
  }
}

// -----

// The tensor as a whole repeated, integers, and other dimensions changed.
// CHECK-LABEL: moir.model @kept
// CHECK-COUNT-3:   opset1.Tile
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<4x6xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<4x6xsi32>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 1, 1]>} : tensor<3xsi64>
    %middle = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 1]>} : tensor<3xsi64>
    %wide = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [8, 6]>} : tensor<2xsi64>
    %other = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 12]>} : tensor<2xsi64>
    %1 = opset1.Unsqueeze(%x, %zero) : tensor<1x4x6xf32>
    %2 = opset1.Tile(%1, %first) : tensor<2x4x6xf32>
    %3 = opset1.Reshape(%2, %wide) {special_zero = false} : tensor<8x6xf32>
    opset1.Result(%3) {name = "whole"}
    %4 = opset1.Unsqueeze(%i, %one) : tensor<4x1x6xsi32>
    %5 = opset1.Tile(%4, %middle) : tensor<4x2x6xsi32>
    %6 = opset1.Reshape(%5, %wide) {special_zero = false} : tensor<8x6xsi32>
    opset1.Result(%6) {name = "integers"}
    %7 = opset1.Unsqueeze(%x, %one) : tensor<4x1x6xf32>
    %8 = opset1.Tile(%7, %middle) : tensor<4x2x6xf32>
    %9 = opset1.Reshape(%8, %other) {special_zero = false} : tensor<4x12xf32>
    opset1.Result(%9) {name = "others"}
  }
}
