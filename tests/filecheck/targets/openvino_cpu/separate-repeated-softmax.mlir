// RUN: moir-opt %s -p separate-repeated-softmax --split-input-file | filecheck %s

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

// -----

// A pooling of one channel; that of two channels is repeated as it is.
// CHECK-LABEL: moir.model @pooled
// CHECK:         %[[P:.*]], %{{.*}} = opset14.MaxPool(%x)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK:         opset1.Concat(%[[M]], %[[M]])
// CHECK-NOT:     opset1.Maximum
builtin.module {
  moir.model @pooled {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1x4x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<2x2x4x4xf32>
    %0, %i = opset14.MaxPool(%x) {dilations = [1, 1], kernel = [1, 1], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<2x1x2x2xf32>, tensor<2x1x2x2xsi64>
    %1 = opset1.Concat(%0, %0) {axis = 1} : tensor<2x2x2x2xf32>
    %2, %j = opset14.MaxPool(%z) {dilations = [1, 1], kernel = [1, 1], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<2x2x2x2xf32>, tensor<2x2x2x2xsi64>
    %3 = opset1.Concat(%2, %2) {axis = 1} : tensor<2x4x2x2xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "w"}
  }
}
