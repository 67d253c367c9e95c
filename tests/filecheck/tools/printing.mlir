// RUN: moir-opt %s -p front-start,fuse-swish,eliminate-dead --print-ir-after-change 2>%t.err >%t.out
// RUN: filecheck %s --input-file %t.err
// RUN: filecheck %s --input-file %t.out --check-prefix=OUTPUT
// RUN: moir-opt %s -p front-start,fuse-swish --print-between-passes 2>&1 | filecheck %s --check-prefix=ALWAYS
// RUN: moir-opt %s -p front-start,fuse-swish --timing 2>&1 | filecheck %s --check-prefix=TIMING

moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %g = opset1.Sigmoid(%x) : tensor<2xf32>
  %y = opset1.Multiply(%x, %g) {name = "y"} : tensor<2xf32>
  opset1.Result(%y) {name = "r"}
}

// CHECK-NOT: front-start
// CHECK: // IR after 002-fuse-swish
// CHECK: opset4.Swish
// CHECK-NOT: // IR after 02

// OUTPUT-NOT: // IR after
// OUTPUT: opset4.Swish

// ALWAYS: // IR after 001-front-start
// ALWAYS: // IR after 002-fuse-swish

// TIMING: 01 front-start {{.*}} s
// TIMING: 02 fuse-swish {{.*}} s
// TIMING: total {{.*}} s
