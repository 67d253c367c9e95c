// RUN: not moir-opt %s -p check-types 2>&1 | filecheck %s

// CHECK: opset1.Relu 'r': the element type of result 0 is unknown
builtin.module {
  moir.model @untyped {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %r = opset1.Relu(%x) {name = "r"} : tensor<*x!moir.dynamic>
    opset1.Result(%r) {name = "y"}
  }
}
