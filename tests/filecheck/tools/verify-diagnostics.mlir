// RUN: moir-opt %s --split-input-file --verify-diagnostics -p check-lowered 2>%t.err | filecheck %s
// RUN: filecheck %s --input-file %t.err --check-prefix=SILENT --allow-empty
// RUN: not moir-opt %S/Inputs/diagnostics.mlir --verify-diagnostics --split-input-file -p check-lowered 2>&1 | filecheck %s --check-prefix=WRONG
// RUN: not moir-opt --verify-diagnostics --split-input-file -p check-lowered < %S/Inputs/diagnostics.mlir 2>&1 | filecheck %s --check-prefix=STDIN

// What has no error is printed, as without the option.
// CHECK: moir.model @fine
// CHECK-NOT: moir.model
// SILENT-NOT: {{.}}

// WRONG: moir-opt: error: {{.*}}diagnostics.mlir:4:3: unexpected error: opset1.Abs 'y': the result is written as
// WRONG-NEXT: moir-opt: error: {{.*}}diagnostics.mlir:3:6: expected error 'of another kind' did not occur in line 4
// WRONG-NEXT: moir-opt: error: {{.*}}diagnostics.mlir:9:21: expected error 'no lowering' did not occur in line 9
// WRONG-NEXT: moir-opt: error: {{.*}}diagnostics.mlir:10:6: expected warning 'unused' did not occur in line 11
// WRONG-NEXT: moir-opt: error: {{.*}}diagnostics.mlir:16:19: unexpected error: no lowering for 1 kind of operation{{.*}}
// WRONG-NOT: {{.}}
// STDIN: moir-opt: error: <stdin>:4:3: unexpected error

moir.model @fine {}

// -----

moir.model @parser {
  // expected-error@+1 {{%y is used before its definition}}
  %x = opset1.Relu(%y) : tensor<f32>
}

// -----

moir.model @verifier {
  %x = opset1.Parameter() : tensor<2xf32>
  %y = opset8.Softmax(%x, %x) : tensor<2xf32> // expected-error {{Expected 1 operand, but got 2}}
}

// -----

moir.model @a_pass {
  %x = opset1.Parameter() : tensor<2xf32>
  onnx.Nothing() {name = "n"}
  // expected-error-re@above {{no lowering for {{[0-9]}} kind of operation: onnx.Nothing ('{{.}}')}}
}
