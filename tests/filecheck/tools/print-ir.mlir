// RUN: moir-opt %s -p front-start,fuse-swish,eliminate-dead --print-ir-before=fuse-swish 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE
// RUN: moir-opt %s -p front-start,fuse-swish,eliminate-dead --mlir-print-ir-before=002-fuse-swish 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE
// RUN: moir-opt %s -p front-start,fuse-swish,eliminate-dead --print-ir-after=fuse-swish 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: moir-opt %s -p front-start,fuse-swish,eliminate-dead --mlir-print-ir-after=front-start,fuse-swish --mlir-print-ir-after-change 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: moir-opt %s -p front-start,fuse-swish,fuse-gelu --mlir-print-ir-after-change 2>&1 >/dev/null | filecheck %s --check-prefix=AFTER
// RUN: moir-opt %s -p front-start,fuse-swish --mlir-print-ir-after-all 2>&1 >/dev/null | filecheck %s --check-prefix=ALL
// RUN: moir-opt %s -p front-start,fuse-swish --print-ir-before-all 2>&1 >/dev/null | filecheck %s --check-prefix=BEFORE-ALL
// RUN: moir-opt %s -p front-start,fuse-swish --print-ir-after=002-fuse-swish --mlir-print-op-generic --mlir-print-debuginfo 2>&1 >/dev/null | filecheck %s --check-prefix=GENERIC
// RUN: moir-opt %s -p front-start,fuse-swish --mlir-timing 2>&1 >/dev/null | filecheck %s --check-prefix=TIMING
// RUN: not moir-opt %s -p front-start,check-lowered --print-ir-after-failure 2>&1 >/dev/null | filecheck %s --check-prefix=FAILURE
// RUN: not moir-opt %s -p fuse-swish --print-ir-before=fuse-swich 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not moir-opt %s --print-ir-aft 2>&1 | filecheck %s --check-prefix=PREFIX

// BEFORE-NOT: IR after
// BEFORE: // IR before 002-fuse-swish
// BEFORE: opset1.Sigmoid
// BEFORE-NOT: // IR

// AFTER-NOT: // IR before
// AFTER: // IR after 002-fuse-swish
// AFTER: opset4.Swish
// AFTER-NOT: // IR

// ALL: // IR after 001-front-start
// ALL: // IR after 002-fuse-swish

// BEFORE-ALL: // IR before 001-front-start
// BEFORE-ALL: // IR before 002-fuse-swish
// BEFORE-ALL-NOT: opset4.Swish

// GENERIC: "opset4.Swish"(%x) {name = "y"} : (tensor<2xf32>) -> tensor<2xf32> loc("y")

// TIMING: 02 fuse-swish {{.*}} s

// FAILURE: // IR after failure of 002-check-lowered
// FAILURE: onnx.Nothing

// UNKNOWN: moir-opt: error: there is no pass 'fuse-swich'; did you mean fuse-swish
// PREFIX: moir-opt: error: there is no option --print-ir-aft; did you mean --print-ir-after
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %g = opset1.Sigmoid(%x) : tensor<2xf32>
  %y = opset1.Multiply(%x, %g) {name = "y"} : tensor<2xf32>
  opset1.Result(%y) {name = "r"}
  onnx.Nothing() {name = "n"}
}
