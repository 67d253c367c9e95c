// RUN: moir-opt %s -p separate-absolute-values --verify-each --split-input-file | filecheck %s

// Abs of a Concat that another Concat reads, too, or of a Concat of 1-D tensors with any other user: writes the
// absolute values into the memory that the other one reads.
// CHECK-LABEL: moir.model @absolute_concat
// CHECK:           opset1.PRelu(%2, %5) : tensor<4xf32>
// CHECK:           opset1.Concat(%4, %6) {axis = 0} : tensor<10xf32>
// CHECK-NOT:       opset1.Abs(
builtin.module {
  moir.model @absolute_concat {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<2xf32>
    %2 = opset1.Concat(%0, %1) {axis = 0} : tensor<4xf32>
    %3 = opset1.Concat(%2, %0) {axis = 0} : tensor<6xf32>
    %4 = opset1.Negative(%3) : tensor<6xf32>
    %5 = opset1.Abs(%2) : tensor<4xf32>
    %6 = opset1.Concat(%4, %5) {axis = 0} : tensor<10xf32>
    opset1.Result(%6) {name = "y0"}
  }
}
