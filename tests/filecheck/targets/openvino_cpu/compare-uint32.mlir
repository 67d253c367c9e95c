// RUN: moir-opt %s -p compare-uint32 | filecheck %s

// The borrow of a difference says which unsigned integer is less.
// CHECK:           %[[X:.*]] = opset1.Convert(%x) {destination_type = si32}
// CHECK:           %[[Y:.*]] = opset1.Convert(%y) {destination_type = si32}
// CHECK:           %[[D:.*]] = opset1.Subtract(%[[X]], %[[Y]])
// CHECK:           %[[B:.*]] = opset15.BitwiseRightShift(
// CHECK:           %a = opset1.NotEqual(%[[B]], %{{.*}}) {name = "a"}
// CHECK:           opset1.Subtract(%{{.*}}, %{{.*}})
// CHECK:           %[[C:.*]] = opset15.BitwiseRightShift(
// CHECK:           %b = opset1.Equal(%[[C]], %{{.*}}) {name = "b"}
// CHECK:           %[[M:.*]] = opset15.BitwiseRightShift(
// CHECK:           %[[O:.*]] = opset13.BitwiseXor(
// CHECK:           %[[P:.*]] = opset13.BitwiseAnd(%[[O]], %[[M]])
// CHECK:           %[[Q:.*]] = opset13.BitwiseXor(%{{.*}}, %[[P]])
// CHECK:           %c = opset1.Convert(%[[Q]]) {destination_type = ui32, name = "c"}
// CHECK:           %[[F:.*]] = opset13.BitwiseXor(%{{.*}}, %{{.*}}) : tensor<4xsi32>
// CHECK:           %[[S:.*]], %i = opset11.TopK(%[[F]], %k)
// CHECK:           %[[G:.*]] = opset13.BitwiseXor(%[[S]], %{{.*}})
// CHECK:           %v = opset1.Convert(%[[G]]) {destination_type = ui32, name = "v"}
builtin.module {
  moir.model @words {
    %x = opset1.Parameter() {name = "x"} : tensor<4xui32>
    %y = opset1.Parameter() {name = "y"} : tensor<4xui32>
    %k = opset1.Constant() {value = #moir.data<tensor<si64>, [4]>} : tensor<si64>
    %a = opset1.Less(%x, %y) {name = "a"} : tensor<4xi1>
    %b = opset1.LessEqual(%x, %y) {name = "b"} : tensor<4xi1>
    %c = opset1.Maximum(%x, %y) {name = "c"} : tensor<4xui32>
    %v, %i = opset11.TopK(%x, %k) {axis = 0 : si64, mode = "max", sort = "value", index_element_type = si32, name = "v"} : tensor<4xui32>, tensor<4xsi32>
    opset1.Result(%a) {name = "p"}
    opset1.Result(%b) {name = "q"}
    opset1.Result(%c) {name = "r"}
    opset1.Result(%v) {name = "s"}
  }
}
