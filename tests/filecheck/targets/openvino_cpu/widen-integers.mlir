// RUN: moir-opt %s -p widen-integers --verify-each --split-input-file | filecheck %s

// Add, Subtract, Multiply, Power, Abs, Negative, ReduceSum and MatMul of 8-bit integers: saturates instead of
// wrapping around; quotients are rounded to the nearest integer if shapes are dynamic.
// CHECK-LABEL: moir.model @i8_arithmetic
// CHECK:           opset1.Convert(%0) {destination_type = si32} : tensor<1xsi32>
// CHECK:           opset1.Convert(%1) {destination_type = si32} : tensor<1xsi32>
// CHECK:           opset1.Add(%2, %3) : tensor<1xsi32>
// CHECK:           opset1.Convert(%4) {destination_type = ui8} : tensor<1xui8>
builtin.module {
  moir.model @i8_arithmetic {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xui8>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1xui8>
    %2 = opset1.Add(%0, %1) : tensor<1xui8>
    opset1.Result(%2) {name = "y0"}
  }
}
