// RUN: moir-opt %s -p fuse-swish,eliminate-identities --trace-rewrites 2>&1 >/dev/null | filecheck %s
// RUN: moir-opt %s -p fuse-swish,eliminate-identities --trace-rewrites=identities 2>&1 >/dev/null | filecheck %s --check-prefix=ONE
// RUN: moir-opt %s -p fuse-swish,eliminate-identities --trace-rewrites=Sigmoid 2>&1 >/dev/null | filecheck %s --check-prefix=RULE

builtin.module {
  moir.model @two_products {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %s = opset1.Sigmoid(%x) {name = "gate"} : tensor<4xf32>
    %y = opset1.Multiply(%x, %s) {name = "swish"} : tensor<4xf32>
    %t = opset1.Sigmoid(%y) {name = "shared"} : tensor<4xf32>
    %z = opset1.Multiply(%y, %t) {name = "kept"} : tensor<4xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %w = opset1.Multiply(%z, %one) {name = "same"} : tensor<4xf32>
    opset1.Result(%w) {name = "w"}
    opset1.Result(%t) {name = "t"}
  }
}

// CHECK:      // fuse-swish: Multiply(x, Sigmoid(x))
// CHECK-NEXT: - %y = opset1.Multiply(%x, %s) {name = "swish"} : tensor<4xf32>
// CHECK-NEXT: - %s = opset1.Sigmoid(%x) {name = "gate"} : tensor<4xf32>
// CHECK-NEXT: + %{{.*}} = opset4.Swish(%x) {name = "swish"} : tensor<4xf32>
// CHECK-NEXT: // fuse-swish: Multiply(x, Sigmoid(x)), declined: an operation inside of the pattern has a use outside of it
// CHECK-NEXT: - %z = {{.*}}"kept"
// CHECK-NEXT: // eliminate-identities: ResultEqualToOperand
// CHECK-NEXT: - %w = {{.*}}"same"
// CHECK-NOT:  +

// ONE-NOT:    fuse-swish
// ONE:        // eliminate-identities: ResultEqualToOperand

// RULE:       // fuse-swish: Multiply(x, Sigmoid(x))
// RULE-NOT:   eliminate-identities
