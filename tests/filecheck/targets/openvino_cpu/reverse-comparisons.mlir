// RUN: moir-opt %s -p reverse-comparisons --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @floats
// CHECK:           opset1.Less(%y, %x) {name = "g"} : tensor<?x3xi1>
// CHECK:           opset1.LessEqual(%x, %y)
builtin.module {
  moir.model @floats {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3xf32>
    %1 = opset1.Greater(%x, %y) {name = "g"} : tensor<?x3xi1>
    %2 = opset1.GreaterEqual(%y, %x) : tensor<?x3xi1>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Integers are never NaN.
// CHECK-LABEL: moir.model @integers
// CHECK:           opset1.Greater(%x, %y)
builtin.module {
  moir.model @integers {
    %x = opset1.Parameter() {name = "x"} : tensor<3xsi64>
    %y = opset1.Parameter() {name = "y"} : tensor<3xsi64>
    %1 = opset1.Greater(%x, %y) : tensor<3xi1>
    opset1.Result(%1) {name = "a"}
  }
}
