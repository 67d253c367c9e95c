// RUN: not moir-opt %s 2>&1 | filecheck %s --match-full-lines
// RUN: not moir-opt %s -t ir 2>&1 | filecheck %s --match-full-lines
// RUN: not moir-opt %s -o %t.out.mlir 2>&1 | filecheck %s --match-full-lines
// RUN: not moir-opt %t.out.mlir 2>&1 | filecheck %s --check-prefix=NO-FILE
// RUN: moir-opt %s --disable-verify | filecheck %s --check-prefix=UNVERIFIED

// CHECK: moir-opt: error: {{.*}}verification-error.mlir:16:3: opset8.Softmax 'two': Expected 1 operand, but got 2
// CHECK-NOT: {{.}}

// NO-FILE: No such file or directory

// UNVERIFIED: opset8.Softmax(%x, %x)

moir.model @m {
  %x = opset1.Parameter() : tensor<2xf32>
  %y = opset8.Softmax(%x, %x) {name = "two"} : tensor<2xf32>
}
