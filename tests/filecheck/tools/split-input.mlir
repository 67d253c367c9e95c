// RUN: moir-opt %s --split-input-file -p fuse-swish | filecheck %s
// RUN: not moir-opt %s --split-input-file -p check-lowered 2>&1 | filecheck %s --check-prefix=ERROR
// RUN: moir-opt %s --split-input-file -p check-lowered --verify-diagnostics | filecheck %s --check-prefix=DIAGNOSTIC

// CHECK: moir.model @one
// CHECK: //{{ -----}}
// CHECK: moir.model @two
// ERROR: moir-opt: error: {{.*}}split-input.mlir:17:19: no lowering for 1 kind of operation: onnx.Nothing ('n')
// DIAGNOSTIC: moir.model @one
// DIAGNOSTIC: //{{ -----}}
// DIAGNOSTIC-NOT: moir.model

moir.model @one { %x = opset1.Parameter() : tensor<1xf32> }

// -----

moir.model @two { onnx.Nothing() {name = "n"} } // expected-error {{no lowering for 1 kind of operation: onnx.Nothing ('n')}}
