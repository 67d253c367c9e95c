// RUN: moir-opt %s -p select-by-logic --verify-each --split-input-file | filecheck %s

// Select of booleans by a constant, which is also what is chosen: is not compiled.
// CHECK-LABEL: moir.model @select_constants
// CHECK:           opset1.LogicalNot(%1) : tensor<2xi1>
// CHECK:           opset1.LogicalAnd(%2, %1) : tensor<2xi1>
// CHECK:           opset1.LogicalAnd(%1, %0) : tensor<2xi1>
// CHECK:           opset1.LogicalOr(%4, %3) : tensor<2xi1>
// CHECK-NOT:       opset1.Select(
builtin.module {
  moir.model @select_constants {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2xi1>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xi1>, [true, false]>} : tensor<2xi1>
    %2 = opset1.Select(%1, %0, %1) : tensor<2xi1>
    opset1.Result(%2) {name = "y0"}
  }
}
