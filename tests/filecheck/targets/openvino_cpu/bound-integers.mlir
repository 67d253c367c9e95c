// RUN: moir-opt %s -p bound-integers --verify-each --split-input-file | filecheck %s

// Relu of integers: is computed in f32.
// CHECK-LABEL: moir.model @i32_relu
// CHECK:           opset1.Maximum(%0, %1) : tensor<1xsi32>
// CHECK-NOT:       opset1.Relu(
builtin.module {
  moir.model @i32_relu {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xsi32>
    %1 = opset1.Relu(%0) : tensor<1xsi32>
    opset1.Result(%1) {name = "y0"}
  }
}

// -----

// Floor and Ceiling of integers: are computed in f32.
// CHECK-LABEL: moir.model @i32_floor
// CHECK-NOT:       opset1.Floor(
builtin.module {
  moir.model @i32_floor {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1xsi32>
    %1 = opset1.Floor(%0) : tensor<1xsi32>
    opset1.Result(%1) {name = "y0"}
  }
}
