// RUN: moir-opt %s -p separate-repeated-softmax | filecheck %s

// A Tile, a Concat and a Broadcast; of three dimensions, and a Concat with another value, there is no fault.
// CHECK:           %[[T:.*]] = opset1.Maximum(%{{.*}}, %s)
// CHECK-NEXT:      opset1.Tile(%[[T]], %n)
// CHECK:           %[[C:.*]] = opset1.Maximum(%{{.*}}, %s)
// CHECK-NEXT:      opset1.Concat(%[[C]], %[[C]])
// CHECK:           %[[B:.*]] = opset1.Maximum(%{{.*}}, %s)
// CHECK-NEXT:      opset3.Broadcast(%[[B]], %shape)
// CHECK-NOT:       opset1.Maximum
// CHECK:           opset1.Concat(%s, %x)
// CHECK:           opset1.Concat(%v, %v)
builtin.module {
  moir.model @repeated {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x4x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x4x4xf32>
    %s = opset8.Softmax(%x) {axis = 3} : tensor<?x1x4x4xf32>
    %v = opset8.Softmax(%w) {axis = 2} : tensor<1x4x4xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 1, 1]>} : tensor<4xsi64>
    %a = opset1.Tile(%s, %n) : tensor<?x2x4x4xf32>
    %b = opset1.Concat(%s, %s) {axis = 1} : tensor<?x2x4x4xf32>
    %shape = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 3, 1, 1]>} : tensor<4xsi64>
    %c = opset3.Broadcast(%s, %shape) {mode = "bidirectional"} : tensor<?x3x4x4xf32>
    %d = opset1.Concat(%s, %x) {axis = 1} : tensor<?x2x4x4xf32>
    %e = opset1.Concat(%v, %v) {axis = 0} : tensor<2x4x4xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
    opset1.Result(%c) {name = "c"}
    opset1.Result(%d) {name = "d"}
    opset1.Result(%e) {name = "e"}
  }
}
