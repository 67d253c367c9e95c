// RUN: moir-opt %s -p lower-tf | filecheck %s

// Strings are looked up by their bytes.
// CHECK-LABEL: moir.model @words
// CHECK:           opset15.StringTensorUnpack(%x)
// CHECK:           opset1.ReduceLogicalAnd
// CHECK:           opset1.ReduceMax
// CHECK:           opset1.Select(%{{.*}}, %{{.*}}, %d) {name = "find"} : tensor<4xsi64>
builtin.module {
  moir.model @words {
    %x = opset1.Parameter() {name = "x"} : tensor<4x!moir.string>
    %d = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
    %t = tf.HashTableV2() {keys = #moir.data<tensor<1x!moir.string>, ["a"]>, values = #moir.data<tensor<1xsi64>, [1]>} : tensor<*x!moir.dynamic>
    %y = tf.LookupTableFindV2(%t, %x, %d) {name = "find"} : tensor<*xsi64>
    opset1.Result(%y) {name = "y"}
  }
}
