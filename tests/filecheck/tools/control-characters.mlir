// RUN: not moir-opt %s -p check-lowered 2>&1 | filecheck %s

// A name cannot control the terminal, nor make a message two lines.
// CHECK: moir-opt: error: {{.*}}control-characters.mlir:6:17: no lowering for 1 kind of operation: onnx.Absent ('a\x1b[31mb\nc'); add a lowering for each {{.*}}
// CHECK-NOT: {{.}}
moir.model @m { onnx.Absent() {name = "a\1B[31mb\0Ac"} }
