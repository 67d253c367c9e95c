// RUN: moir-opt %s --print-debuginfo | filecheck %s
// RUN: moir-opt %s --mlir-print-debuginfo | moir-opt --print-debuginfo | filecheck %s
// RUN: moir-opt %s --mlir-print-debuginfo --mlir-print-op-generic | moir-opt --print-debuginfo | filecheck %s
// RUN: moir-opt %s --mlir-print-debuginfo | moir-opt | filecheck %s --check-prefix=PLAIN

// CHECK:      builtin.module {
// CHECK-NEXT:   moir.model @m {
// CHECK-NEXT:     opset1.Parameter() {name = "x"} : tensor<2xf32> loc("x")
// CHECK-NEXT:     opset1.Abs({{%.*}}) : tensor<2xf32> loc(unknown)
// CHECK-NEXT:     opset1.Relu({{%.*}}) {name = "gr\C3\B6\C3\9Fe \22a\22"} : tensor<2xf32> loc("gr\C3\B6\C3\9Fe \22a\22")
// CHECK-NEXT:     opset1.Tanh({{%.*}}) {name = "t"} : tensor<2xf32> loc("t"("net.py":3:7))
// CHECK-NEXT:     opset1.Abs({{%.*}}) : tensor<2xf32> loc("net.py":4:1)
// CHECK-NEXT:   } loc("m")
// CHECK-NEXT: } loc(unknown)

// PLAIN-NOT: loc(
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %a = opset1.Abs(%x) : tensor<2xf32>
  %b = opset1.Relu(%a) {name = "größe \22a\22"} : tensor<2xf32> loc("an older name")
  %c = opset1.Tanh(%b) {name = "t"} : tensor<2xf32> loc("net.py":3:7)
  %d = opset1.Abs(%c) : tensor<2xf32> loc("net.py":4:1)
}
