// RUN: moir-opt %s -p convert-empty-rows --verify-each --split-input-file | filecheck %s

// Logical operations and Select by the rows that SparseFillEmptyRows says were empty: are not compiled.
// CHECK-LABEL: moir.model @empty_rows
// CHECK:           opset1.Convert(%6) {destination_type = si32} : tensor<2xsi32>
// CHECK:           opset1.Greater(%7, %8) : tensor<2xi1>
// CHECK:           opset1.LogicalNot(%9) : tensor<2xi1>
builtin.module {
  moir.model @empty_rows {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %2 = opset1.Constant() {value = #moir.data<tensor<1x2xsi64>, [0, 1]>} : tensor<1x2xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [7.0]>} : tensor<f32>
    %4, %5, %6 = opset16.SparseFillEmptyRows(%0, %1, %2, %3) : tensor<2x2xsi64>, tensor<2xf32>, tensor<2xi1>
    %7 = opset1.LogicalNot(%6) : tensor<2xi1>
    opset1.Result(%7) {name = "y0"}
  }
}
