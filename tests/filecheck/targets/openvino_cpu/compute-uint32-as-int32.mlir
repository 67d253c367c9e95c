// RUN: moir-opt %s -p compute-uint32-as-int32 --verify-each --split-input-file | filecheck %s

// BitwiseRightShift of u32: copies the highest bit of numbers from 2³¹ on.
// CHECK-LABEL: moir.model @u32_shift
// CHECK:           opset1.Convert(%0) {destination_type = si32} : tensor<1xsi32>
// CHECK:           opset1.Convert(%1) {destination_type = si32} : tensor<1xsi32>
// CHECK:           opset1.Subtract(%5, %3) : tensor<1xsi32>
// CHECK:           opset15.BitwiseLeftShift(%4, %6) : tensor<1xsi32>
// CHECK:           opset13.BitwiseNot(%7) : tensor<1xsi32>
// CHECK:           opset15.BitwiseRightShift(%2, %3) : tensor<1xsi32>
// CHECK:           opset13.BitwiseAnd(%9, %8) : tensor<1xsi32>
// CHECK:           opset1.Convert(%10) {destination_type = ui32} : tensor<1xui32>
builtin.module {
  moir.model @u32_shift {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xui32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1xui32>
    %2 = opset15.BitwiseRightShift(%0, %1) : tensor<1xui32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// Add, Subtract, Multiply, Equal, Select, Concat and bitwise operations with a constant of u32: numbers from 2³¹
// on become 2³¹ - 1.
// CHECK-LABEL: moir.model @u32_operand
// CHECK:           opset1.Convert(%0) {destination_type = si32} : tensor<1xsi32>
// CHECK:           opset1.Multiply(%2, %3) : tensor<1xsi32>
// CHECK:           opset1.Convert(%4) {destination_type = ui32} : tensor<1xui32>
builtin.module {
  moir.model @u32_operand {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xui32>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xui32>, [2147483653]>} : tensor<1xui32>
    %2 = opset1.Multiply(%0, %1) : tensor<1xui32>
    opset1.Result(%2) {name = "y0"}
  }
}
