// RUN: not moir-opt %s -p fuse-swish,check-lowered,eliminate-dead --crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefix=WRITTEN
// RUN: filecheck %s --input-file %t.mlir
// RUN: not moir-opt %t.mlir --run-reproducer 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: not moir-opt %t.mlir '--pass-pipeline=builtin.module(check-lowered)' 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: moir-opt %t.mlir | filecheck %s --check-prefix=MODULE
// RUN: not moir-opt %s --run-reproducer 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not moir-opt %t.mlir --run-reproducer -p fuse-swish 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not moir-opt %t.mlir -p check-lowered --mlir-pass-pipeline-crash-reproducer=%t.mlir 2>&1 | filecheck %s --check-prefix=INPUT
// RUN: moir-opt %s -p fuse-swish --crash-reproducer=%t.absent.mlir
// RUN: not moir-opt %t.absent.mlir 2>&1 | filecheck %s --check-prefix=ABSENT

// WRITTEN: moir-opt: {{.*}}.mlir reproduces the following error
// WRITTEN-NEXT: moir-opt: error: {{.*}}reproducer.mlir:32:3: no lowering for 1 kind of operation: onnx.Nothing ('n')

// CHECK:      // Pass check-lowered failed: no lowering for 1 kind of operation: onnx.Nothing ('n')
// CHECK-NEXT: // reproduce: moir-opt {{.*}}.mlir '--pass-pipeline=builtin.module(check-lowered)'
// CHECK-NEXT: builtin.module {
// CHECK:      opset4.Swish
// CHECK:      onnx.Nothing

// AGAIN: moir-opt: error: {{.*}}.mlir:8:5: no lowering for 1 kind of operation: onnx.Nothing ('n')
// MODULE: opset4.Swish
// NONE: is not a reproducer: it has no line '// reproduce: moir-opt'
// BOTH: moir-opt: error: --run-reproducer takes the passes from the file
// INPUT: moir-opt: error: {{.*}}: this file belongs to the model that is converted
// ABSENT: No such file or directory
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %g = opset1.Sigmoid(%x) : tensor<2xf32>
  %y = opset1.Multiply(%x, %g) {name = "y"} : tensor<2xf32>
  opset1.Result(%y) {name = "r"}
  onnx.Nothing() {name = "n"}
}
