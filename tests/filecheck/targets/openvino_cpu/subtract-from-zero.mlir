// RUN: moir-opt %s -p subtract-from-zero --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @unsigned
// CHECK:           opset1.Subtract(%{{[0-9]+}}, %x) {name = "n"} : tensor<4xui16>
builtin.module {
  moir.model @unsigned {
    %x = opset1.Parameter() {name = "x"} : tensor<4xui16>
    %1 = opset1.Negative(%x) {name = "n"} : tensor<4xui16>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @signed
// CHECK:           opset1.Negative(%x) : tensor<4xsi16>
builtin.module {
  moir.model @signed {
    %x = opset1.Parameter() {name = "x"} : tensor<4xsi16>
    %1 = opset1.Negative(%x) : tensor<4xsi16>
    opset1.Result(%1) {name = "y"}
  }
}
