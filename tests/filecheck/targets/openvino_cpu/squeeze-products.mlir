// RUN: moir-opt %s -p squeeze-products --verify-each --split-input-file | filecheck %s

// MatMul of a row and a column, perhaps with elementwise operations after it, then a Reshape to a scalar: ends the
// process.
// CHECK-LABEL: moir.model @scalar_product
// CHECK:           opset15.Squeeze(%4, %6) : tensor<f32>
// CHECK-NOT:       opset1.Reshape(
builtin.module {
  moir.model @scalar_product {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x4xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<4x1xf32>
    %2 = opset1.MatMul(%0, %1) : tensor<1x1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %4 = opset1.Add(%2, %3) : tensor<1x1xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<0xsi64>, []>} : tensor<0xsi64>
    %6 = opset1.Reshape(%4, %5) {special_zero = false} : tensor<f32>
    opset1.Result(%6) {name = "y0"}
  }
}
