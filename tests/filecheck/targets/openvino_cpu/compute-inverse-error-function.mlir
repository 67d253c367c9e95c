// RUN: moir-opt %s -p compute-inverse-error-function --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @single
// CHECK-NOT:       ErfInv
// CHECK:           opset1.Multiply(%{{[0-9]+}}, %{{[0-9]+}}) {name = "e"} : tensor<4xf32>
builtin.module {
  moir.model @single {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %1 = opset17.ErfInv(%x) {name = "e"} : tensor<4xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Halves are computed in f32.
// CHECK-LABEL: moir.model @half
// CHECK-NOT:       ErfInv
// CHECK:           opset1.Convert(%{{[0-9]+}}) {destination_type = f16, name = "e"} : tensor<4xf16>
builtin.module {
  moir.model @half {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf16>
    %1 = opset17.ErfInv(%x) {name = "e"} : tensor<4xf16>
    opset1.Result(%1) {name = "y"}
  }
}
