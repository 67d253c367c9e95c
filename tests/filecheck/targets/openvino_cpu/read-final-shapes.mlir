// RUN: moir-opt %s -p read-final-shapes --split-input-file | filecheck %s

// The shape is read after the operations that the plugin computes with the convolution, and before what computes with it.
// CHECK-LABEL: moir.model @chain
// CHECK:           %0 = opset1.Convolution(%x, %w)
// CHECK-NEXT:      %b = opset1.Constant
// CHECK-NEXT:      %1 = opset1.Add(%b, %0)
// CHECK-NEXT:      %2 = opset1.Relu(%1)
// CHECK-NEXT:      %s = opset3.ShapeOf(%2)
// CHECK-NEXT:      %3 = opset1.Broadcast(%x, %s)
builtin.module {
  moir.model @chain {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x?x?xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [2.0]>} : tensor<1x1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x?x?xf32>
    %s = opset3.ShapeOf(%1) : tensor<4xsi64>
    %4 = opset1.Broadcast(%x, %s) : tensor<?x?x?x?xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %2 = opset1.Add(%b, %1) : tensor<1x1x?x?xf32>
    %3 = opset1.Relu(%2) : tensor<1x1x?x?xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// Inputs, results with other uses, and constants that may enlarge a result.
// CHECK-LABEL: moir.model @others
// CHECK:           opset3.ShapeOf(%x)
// CHECK:           opset3.ShapeOf(%0)
// CHECK:           opset3.ShapeOf(%2)
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %a = opset3.ShapeOf(%x) : tensor<2xsi64>
    %1 = opset1.Relu(%x) : tensor<?x4xf32>
    %b = opset3.ShapeOf(%1) : tensor<2xsi64>
    %2 = opset1.Add(%1, %c) : tensor<2x4xf32>
    %3 = opset1.Tanh(%2) : tensor<2x4xf32>
    %d = opset3.ShapeOf(%3) : tensor<2xsi64>
    %4 = opset1.Exp(%3) : tensor<2x4xf32>
    %5 = opset1.Sin(%3) : tensor<2x4xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
    opset1.Result(%d) {name = "d"}
    opset1.Result(%4) {name = "e"}
    opset1.Result(%5) {name = "f"}
  }
}
