// RUN: moir-opt %s -p lower-to-onnx | filecheck %s

// An output has the name of a dimension of an input that its own is equal to; that of a concatenation has none.

// CHECK:      opset1.Result(%{{.*}}) {name = "y", dimension_names = ["batch", ""]}
// CHECK-NEXT: opset1.Result(%{{.*}}) {name = "z"}
builtin.module {
  moir.model @names {
    %x = opset1.Parameter() {name = "x", dimension_names = ["batch", ""]} : tensor<?x2xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<?x2xf32>
    %0 = opset1.Relu(%x) : tensor<?x2xf32>
    %1 = opset1.Concat(%x, %w) {axis = 0} : tensor<?x2xf32>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
  }
}
