// RUN: moir-opt %s -p divide-uint32 | filecheck %s

// A divisor that may have the highest bit is masked; a constant one that has none is not.
// CHECK-LABEL: moir.model @words
// CHECK:           %[[N:.*]] = opset1.Convert(%y) {destination_type = si32}
// CHECK:           %[[F:.*]] = opset1.Convert(%[[N]]) {destination_type = f32}
// CHECK:           opset1.Divide(%{{.*}}, %[[F]])
// CHECK:           opset1.Floor(
// CHECK:           opset15.BitwiseRightShift(%[[N]], %{{.*}})
// CHECK:           %a = opset1.Convert(%{{.*}}) {destination_type = ui32, name = "a"}
// CHECK:           %[[T:.*]] = opset1.Constant() {value = #moir.data<tensor<si32>, [10]>}
// CHECK:           opset1.Floor(
// CHECK-NOT:       opset15.BitwiseRightShift(%[[T]]
// CHECK:           %b = opset1.Convert(%{{.*}}) {destination_type = ui32, name = "b"}
builtin.module {
  moir.model @words {
    %x = opset1.Parameter() {name = "x"} : tensor<4xui32>
    %y = opset1.Parameter() {name = "y"} : tensor<4xui32>
    %t = opset1.Constant() {value = #moir.data<tensor<ui32>, [10]>} : tensor<ui32>
    %a = opset1.Divide(%x, %y) {name = "a"} : tensor<4xui32>
    %b = opset1.Mod(%x, %t) {name = "b"} : tensor<4xui32>
    opset1.Result(%a) {name = "p"}
    opset1.Result(%b) {name = "q"}
  }
}
