// What differs in two models; the exit status says whether something does.
// RUN: moir diff %s %s --json | filecheck %s --check-prefix=SAME
// RUN: moir-opt %s -p fuse-swish,eliminate-dead -o %t.fused.mlir
// RUN: not moir diff %s %t.fused.mlir | filecheck %s --match-full-lines
// RUN: not moir diff %s %t.fused.mlir --json | filecheck %s --check-prefix=JSON
// RUN: not moir diff %s 2>&1 | filecheck %s --check-prefix=USAGE

// CHECK:      removed operations: 1
// CHECK-NEXT:   node  kind            in
// CHECK-NEXT:   gate  opset1.Sigmoid
// CHECK-EMPTY:
// CHECK-NEXT: changed operations: 1
// CHECK-NEXT:   node     kind                    before           after
// CHECK-NEXT:   product  opset1.Multiply  kind   opset1.Multiply  opset4.Swish
// CHECK-NEXT:   product  opset1.Multiply  auto_broadcast {{.*}}
// CHECK-NEXT:   product  opset1.Multiply  operand 1 gate:0

// JSON: "interfaces": []
// JSON: "removed": [
// JSON: "node": "gate"
// SAME: "removed": []
// USAGE: moir diff: error: B is missing; see moir diff --help
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %s = opset1.Sigmoid(%x) {name = "gate"} : tensor<?x8xf32>
  %p = opset1.Multiply(%x, %s) {name = "product"} : tensor<?x8xf32>
  opset1.Result(%p) {name = "y"}
}
