// RUN: moir-opt %s --split-input-file --parsing-diagnostics | filecheck %s

// CHECK: parse-errors.mlir:5:20: %y is used before its definition
moir.model @m {
  %x = opset1.Relu(%y) : tensor<f32>
}

// -----

// An operation of an operation set that does not have it.
// CHECK: parse-errors.mlir:13:{{[0-9]+}}: {{.*}}opset1.Gelu
moir.model @m {
  %x = opset1.Gelu() : tensor<f32>
}

// -----

// CHECK: parse-errors.mlir:19:{{[0-9]+}}:
moir.model @m { opset1.Result( }

// -----

// CHECK: parse-errors.mlir:25:{{[0-9]+}}: opset1.Elu: alpha: "x" is not a property of kind float
%x = opset1.Parameter() : tensor<2xf32>
%y = opset1.Elu(%x) {alpha = "x"} : tensor<2xf32>
