// RUN: moir-opt %s -p pad-blocks --verify-each --split-input-file | filecheck %s

// SpaceToBatch with padding of integers with a zero point, or what a FakeQuantize rounds to levels below 0: has
// the lowest one in place of 0.
// CHECK-LABEL: moir.model @blocks_of_levels
// CHECK:           opset12.Pad(%5, %7, %8) {pad_mode = "constant"} : tensor<1x1x4x1xf32>
// CHECK:           opset2.SpaceToBatch(%10, %6, %9, %9) : tensor<2x1x2x1xf32>
builtin.module {
  moir.model @blocks_of_levels {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x1x2x1xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [-1.0]>} : tensor<1xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [2.984375]>} : tensor<1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [-1.0]>} : tensor<1xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [2.984375]>} : tensor<1xf32>
    %5 = opset1.FakeQuantize(%0, %1, %2, %3, %4) {levels = 256} : tensor<1x1x2x1xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 1]>} : tensor<4xsi64>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 0]>} : tensor<4xsi64>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 0]>} : tensor<4xsi64>
    %9 = opset2.SpaceToBatch(%5, %6, %7, %8) : tensor<2x1x2x1xf32>
    opset1.Result(%9) {name = "y0"}
  }
}

// -----

// SpaceToBatch with places in a block that are padding throughout: has other elements there.
// CHECK-LABEL: moir.model @blocks_of_padding
// CHECK:           opset12.Pad(%0, %2, %3) {pad_mode = "constant"} : tensor<1x2x1x3xf32>
// CHECK:           opset2.SpaceToBatch(%5, %1, %4, %4) : tensor<3x2x1x1xf32>
builtin.module {
  moir.model @blocks_of_padding {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x2x1x1xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 1, 3]>} : tensor<4xsi64>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 1]>} : tensor<4xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 1]>} : tensor<4xsi64>
    %4 = opset2.SpaceToBatch(%0, %1, %2, %3) : tensor<3x2x1x1xf32>
    opset1.Result(%4) {name = "y0"}
  }
}
