// RUN: moir-opt %s -p fuse-recurrent-cells --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @plain
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:         %[[T:.*]] = opset1.Transpose(%[[X]], %{{.*}}) : tensor<3x5x2xf32>
// CHECK:         %[[Y:.*]], %[[H:.*]] = opset5.RNNSequence(%[[T]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) {direction = "forward", hidden_size = 2}
// CHECK:         %[[L:.*]] = opset15.Squeeze(%[[H]], %{{.*}}) {name = "loop"} : tensor<3x2xf32>
// CHECK-NEXT:    opset1.Result(%[[L]])
builtin.module {
  moir.model @plain {
    %x = opset1.Parameter() {name = "x"} : tensor<5x3x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<3x2xf32>
    %y = opset1.TensorIterator(%h, %x) {inputs = [#moir.port<0 back 0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0>], name = "loop"} ({
      %0 = opset1.Parameter() : tensor<3x2xf32>
      %1 = opset1.Parameter() : tensor<1x3x2xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %3 = opset15.Squeeze(%1, %2) : tensor<3x2xf32>
      %4 = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<2x2xf32>
      %5 = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [5.0, 6.0, 7.0, 8.0]>} : tensor<2x2xf32>
      %6 = opset1.MatMul(%3, %4) : tensor<3x2xf32>
      %7 = opset1.MatMul(%0, %5) : tensor<3x2xf32>
      %8 = opset1.Add(%6, %7) : tensor<3x2xf32>
      %9 = opset1.Tanh(%8) : tensor<3x2xf32>
      opset1.Result(%9)
    }) : tensor<3x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Only products with constant matrices make a cell.
// CHECK-LABEL: moir.model @no_cell
// CHECK:         opset1.TensorIterator
// CHECK-NOT:     RNNSequence
builtin.module {
  moir.model @no_cell {
    %x = opset1.Parameter() {name = "x"} : tensor<5x3x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<3x2xf32>
    %y = opset1.TensorIterator(%h, %x) {inputs = [#moir.port<0 back 0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0>]} ({
      %0 = opset1.Parameter() : tensor<3x2xf32>
      %1 = opset1.Parameter() : tensor<1x3x2xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %3 = opset15.Squeeze(%1, %2) : tensor<3x2xf32>
      %4 = opset1.Add(%3, %0) : tensor<3x2xf32>
      %5 = opset1.Tanh(%4) : tensor<3x2xf32>
      opset1.Result(%5)
    }) : tensor<3x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
