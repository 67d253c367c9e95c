// RUN: moir-opt %s -p "simplify-shape-of,eliminate-dead" --split-input-file | filecheck %s

// Equal entries are one value, a dimension is not -1, and one Gather takes several.
// CHECK-LABEL: moir.model @entries
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%[[X:.*]])
// CHECK:           %[[I:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>}
// CHECK:           %[[G:.*]] = opset8.Gather(%[[S]], %[[I]], %{{.*}}) {name = "last"}
// CHECK-NEXT:    opset1.Result(%[[G]])
builtin.module {
  moir.model @entries {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %r = opset1.Relu(%x) : tensor<?x?x8xf32>
    %s = opset3.ShapeOf(%r) : tensor<3xsi64>
    %0 = opset8.Gather(%s, %zero, %zero) : tensor<si64>
    %1 = opset8.Gather(%s, %one, %zero) : tensor<si64>
    %2 = opset1.Unsqueeze(%0, %front) : tensor<1xsi64>
    %3 = opset1.Unsqueeze(%1, %front) : tensor<1xsi64>
    %4 = opset1.Concat(%3, %2) {axis = 0} : tensor<2xsi64>
    %5 = opset1.Equal(%4, %rest) : tensor<2xi1>
    %6 = opset1.Select(%5, %four, %4) {name = "last"} : tensor<2xsi64>
    opset1.Result(%6) {name = "y"}
  }
}

// -----

// A dimension that weights fix is a constant; one that an input has now is not.
// CHECK-LABEL: moir.model @fixed
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si64>, [5]>, name = "weight"}
// CHECK:           opset8.Gather(%{{.*}}, %{{.*}}, %{{.*}}) {name = "input"}
builtin.module {
  moir.model @fixed {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x5xf32>, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]>} : tensor<2x5xf32>
    %p = opset1.MatMul(%x, %w) : tensor<3x5xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %s = opset3.ShapeOf(%p) : tensor<2xsi64>
    %1 = opset8.Gather(%s, %one, %zero) {name = "weight"} : tensor<si64>
    %2 = opset8.Gather(%s, %zero, %zero) {name = "input"} : tensor<si64>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// The shape is not that of a value inside of a chain, which fusions need to have one use.
// CHECK-LABEL: moir.model @fusible
// CHECK:           %[[R:.*]] = opset1.Relu
// CHECK:           opset3.ShapeOf(%[[R]])
builtin.module {
  moir.model @fusible {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x?x?xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x3x3xf32>, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]>} : tensor<1x1x3x3xf32>
    %0 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x1x?x?xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Multiply(%0, %c) : tensor<?x1x?x?xf32>
    %2 = opset1.Relu(%1) : tensor<?x1x?x?xf32>
    %s = opset3.ShapeOf(%2) : tensor<4xsi64>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%s) {name = "z"}
  }
}

// -----

// A list whose entries are put into another order is joined of lists that are there.
// CHECK-LABEL: moir.model @order
// CHECK:           %[[A:.*]] = opset1.Unsqueeze
// CHECK:           %[[B:.*]] = opset1.Unsqueeze
// CHECK:           %[[L:.*]] = opset1.Concat(%{{.*}}, %[[A]], %[[B]]) {axis = 0
// CHECK:           opset1.Result(%[[L]])
builtin.module {
  moir.model @order {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %7 = opset1.Constant() {value = #moir.data<tensor<si64>, [7]>} : tensor<si64>
    %z = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 1, 0]>} : tensor<3xsi64>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %a = opset8.Gather(%s, %0, %0) : tensor<si64>
    %b = opset8.Gather(%s, %1, %0) : tensor<si64>
    %c = opset1.FloorMod(%a, %7) : tensor<si64>
    %d = opset1.FloorMod(%b, %7) : tensor<si64>
    %e = opset1.Unsqueeze(%c, %z) : tensor<1xsi64>
    %f = opset1.Unsqueeze(%d, %z) : tensor<1xsi64>
    %l = opset1.Concat(%f, %e, %z) {axis = 0} : tensor<3xsi64>
    %r = opset8.Gather(%l, %o, %0) : tensor<3xsi64>
    opset1.Result(%r) {name = "y"}
  }
}
