// RUN: moir-opt %s -p convert-uint32-constants,eliminate-dead | filecheck %s

// The plugin limits constants of ui32; it does not fold BitwiseXor.

// CHECK-LABEL: moir.model @words
// CHECK:           %[[BITS:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [1, -2147483643]>}
// CHECK:           %[[ZERO:.*]] = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>}
// CHECK-NEXT:      %[[WORDS:.*]] = opset13.BitwiseXor(%[[BITS]], %[[ZERO]])
// CHECK-NEXT:      %[[LARGE:.*]] = opset1.Convert(%[[WORDS]]) {destination_type = ui32}
// CHECK:           opset1.Result(%[[LARGE]])
// CHECK:           %[[SMALL:.*]] = opset1.Constant() {value = #moir.data<tensor<2xui32>, [1, 2147483647]>}
// CHECK-NEXT:      opset1.Result(%[[SMALL]])
builtin.module {
  moir.model @words {
    %large = opset1.Constant() {value = #moir.data<tensor<2xui32>, [1, 2147483653]>} : tensor<2xui32>
    opset1.Result(%large) {name = "large"}
    %small = opset1.Constant() {value = #moir.data<tensor<2xui32>, [1, 2147483647]>} : tensor<2xui32>
    opset1.Result(%small) {name = "small"}
  }
}
