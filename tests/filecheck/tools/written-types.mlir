// RUN: not moir-opt %s 2>&1 | filecheck %s --match-full-lines
// RUN: not moir-opt %s -t ir 2>&1 | filecheck %s --match-full-lines
// RUN: moir-opt %s --disable-verify | filecheck %s --check-prefix=TRUSTED
// RUN: moir-opt %s --reinfer-types | filecheck %s --check-prefix=REPLACED
// RUN: moir-opt %s --reinfer-types | moir-opt | filecheck %s --check-prefix=REPLACED

// What was edited is the Parameter; what does not follow any more is after it.
// CHECK: moir-opt: error: {{.*}}written-types.mlir:15:3: opset1.Relu 'y': the result is written as tensor<1x4xf32>, but its operands and properties give tensor<?x4xf32>; write a type that follows, or replace the written types with --reinfer-types

// TRUSTED: name = "y"} : tensor<1x4xf32>
// REPLACED: name = "y"} : tensor<?x4xf32>
// REPLACED: name = "z"} : tensor<?x4xf32>
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
  %y = opset1.Relu(%x) {name = "y"} : tensor<1x4xf32>
  %z = opset1.Abs(%y) {name = "z"} : tensor<1x4xf32>
}
