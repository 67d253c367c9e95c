// RUN: moir-opt %s | moir-opt | filecheck %s
// RUN: not moir-opt %s -p nothing 2>&1 | filecheck %s --check-prefix=ERROR

builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    opset1.Result(%x) {name = "r"}
  }
}

// CHECK: moir.model @m
// CHECK-NEXT: opset1.Parameter() {name = "x"} : tensor<2xf32>
// ERROR: moir-opt: error: there is no pass 'nothing'; passes are default, back-finish
