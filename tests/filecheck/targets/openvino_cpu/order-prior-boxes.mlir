// RUN: moir-opt %s -p order-prior-boxes --verify-each --split-input-file | filecheck %s

// PriorBox of operation set 8 of unknown sizes: is not compiled.
// CHECK-LABEL: moir.model @prior_boxes_of_unknown_sizes
// CHECK:           opset1.PriorBox(%5, %9) {min_size = [2.0], max_size = [8.0], aspect_ratio = [4.0], variance = [1.0, 1.0, 2.0, 2.0], offset = 0.5} : tensor<2x?xf32>
// CHECK:           opset1.Reshape(%10, %11) {special_zero = false} : tensor<2x?x3x4xf32>
// CHECK:           opset8.Gather(%12, %13, %14) : tensor<2x?x3x4xf32>
// CHECK:           opset1.Reshape(%15, %16) {special_zero = false} : tensor<2x?xf32>
// CHECK-NOT:       opset8.PriorBox(
builtin.module {
  moir.model @prior_boxes_of_unknown_sizes {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x1x?x1xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1x1x?x?xf32>
    %2 = opset3.ShapeOf(%0) : tensor<4xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %5 = opset8.Gather(%2, %3, %4) : tensor<2xsi64>
    %6 = opset3.ShapeOf(%1) : tensor<4xsi64>
    %7 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %8 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %9 = opset8.Gather(%6, %7, %8) : tensor<2xsi64>
    %10 = opset8.PriorBox(%5, %9) {min_max_aspect_ratios_order = false, min_size = [2.0], max_size = [8.0], aspect_ratio = [4.0], variance = [1.0, 1.0, 2.0, 2.0], offset = 0.5} : tensor<2x?xf32>
    opset1.Result(%10) {name = "y0"}
  }
}
