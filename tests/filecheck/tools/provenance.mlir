// The nodes from which each operation comes, also after passes; they are read back, and go on from there.
// RUN: moir-opt %s --print-provenance | filecheck %s --check-prefix=READ
// RUN: moir-opt %s -p fold-constants,fuse-swish,deduplicate,eliminate-dead --print-provenance | filecheck %s
// RUN: moir-opt %s -p fold-constants --print-provenance | moir-opt -p fuse-swish,deduplicate,eliminate-dead --print-provenance | filecheck %s
// RUN: moir-opt %s -p fold-constants,fuse-swish,deduplicate,eliminate-dead --print-provenance | moir-opt --print-provenance | filecheck %s
// RUN: moir-opt %s -p fuse-swish --print-provenance | moir-opt | filecheck %s --check-prefix=PLAIN
// RUN: moir-opt %s -p fuse-swish --print-provenance --print-debuginfo | filecheck %s --check-prefix=BOTH
// RUN: moir-opt %s -p fuse-swish --print-provenance --print-debuginfo | moir-opt --print-provenance --print-debuginfo | filecheck %s --check-prefix=BOTH
// RUN: moir-opt %s -p fuse-swish --print-provenance --print-debuginfo --print-op-generic | filecheck %s --check-prefix=GENERIC

// READ:      opset1.Parameter() {name = "x"} : tensor<2xf32> loc("x"("opset1.Parameter"))
// READ:      opset1.Relu({{.*}}) : tensor<2xf32> loc(fused["second"("opset1.Multiply"), "first"("opset1.Multiply"), "gate"("opset1.Sigmoid")])
// READ:      opset1.Tanh({{.*}}) {name = "located"} : tensor<2xf32> loc("net.py":3:7)

// An operation without a name is traced to what uses it; what replaces several comes from all of them.
// CHECK:      %[[RELU:.*]] = opset1.Relu({{.*}}) : tensor<2xf32> loc(fused["{{.*}}
// CHECK:      opset4.Swish(%[[RELU]]) {name = "first"} : tensor<2xf32> loc(fused["first"("opset1.Multiply"), "gate"("opset1.Sigmoid"), "second"("opset1.Multiply")])
// CHECK:      opset1.Constant() {{.*}}name = "sum"} : tensor<2xf32> loc(fused["sum"("opset1.Add"), "a"("opset1.Constant"), "b"("opset1.Constant")])
// CHECK:      opset1.Tanh({{.*}}) {name = "located"} : tensor<2xf32> loc("net.py":3:7)

// PLAIN-NOT: loc(

// The name of the operation, and the nodes from which it comes.
// BOTH:      opset4.Swish({{.*}}) {name = "first"} : tensor<2xf32> loc("first"(fused["first"("opset1.Multiply"), "gate"("opset1.Sigmoid")]))
// BOTH:      opset1.Tanh({{.*}}) {name = "located"} : tensor<2xf32> loc("located"(fused["net.py":3:7]))
// BOTH:      loc("m")

// GENERIC:   "opset4.Swish"({{.*}}) {name = "first"} : (tensor<2xf32>) -> tensor<2xf32> loc("first"(fused["first"("opset1.Multiply"), "gate"("opset1.Sigmoid")]))
moir.model @m {
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %r = opset1.Relu(%x) : tensor<2xf32>
  %s = opset1.Sigmoid(%r) {name = "gate"} : tensor<2xf32>
  %p = opset1.Multiply(%r, %s) {name = "first"} : tensor<2xf32>
  %t = opset1.Sigmoid(%r) : tensor<2xf32>
  %q = opset1.Multiply(%t, %r) {name = "second"} : tensor<2xf32>
  %a = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "a"} : tensor<2xf32>
  %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 4.0]>, name = "b"} : tensor<2xf32>
  %c = opset1.Add(%a, %b) {name = "sum"} : tensor<2xf32>
  %d = opset1.Add(%p, %q) {name = "d"} : tensor<2xf32>
  %e = opset1.Add(%d, %c) {name = "e"} : tensor<2xf32>
  %f = opset1.Tanh(%e) {name = "located"} : tensor<2xf32> loc("net.py":3:7)
  opset1.Result(%f) {name = "y"}
}
