// RUN: moir-opt %s -p copy-loop-slices --split-input-file | filecheck %s

// The next value of the state may be written into the slice.
// CHECK-LABEL: moir.model @sum
// CHECK:         %[[S:.*]] = opset1.Parameter() : tensor<3xf32>
// CHECK-NEXT:    %[[E:.*]] = opset1.Parameter() : tensor<1x3xf32>
// CHECK:         %[[C:.*]] = opset7.Roll(%[[E]], %{{.*}}, %{{.*}}) : tensor<1x3xf32>
// CHECK:         %[[V:.*]] = opset15.Squeeze(%[[C]], %{{.*}})
// CHECK:         opset1.Add(%[[V]], %[[S]])
builtin.module {
  moir.model @sum {
    %x = opset1.Parameter() {name = "x"} : tensor<5x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<3xf32>
    %y = opset1.TensorIterator(%h, %x) {inputs = [#moir.port<0 back 0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0>]} ({
      %0 = opset1.Parameter() : tensor<3xf32>
      %1 = opset1.Parameter() : tensor<1x3xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
      %3 = opset15.Squeeze(%1, %2) : tensor<3xf32>
      %4 = opset1.Add(%3, %0) : tensor<3xf32>
      opset1.Result(%4)
    }) : tensor<3xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A product has memory of its own, and nothing overwrites a slice that only a joined result needs.
// CHECK-LABEL: moir.model @product
// CHECK-NOT:     opset7.Roll
builtin.module {
  moir.model @product {
    %x = opset1.Parameter() {name = "x"} : tensor<5x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<1x3xf32>
    %y, %z = opset1.TensorIterator(%h, %x) {inputs = [#moir.port<0 back 0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0>, #moir.port<1 axis 0 from 0 to -1 stride 1 part 1>]} ({
      %0 = opset1.Parameter() : tensor<1x3xf32>
      %1 = opset1.Parameter() : tensor<1x3xf32>
      %2 = opset1.Constant() {value = #moir.data<tensor<3x3xf32>, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]>} : tensor<3x3xf32>
      %3 = opset1.MatMul(%1, %2) : tensor<1x3xf32>
      %4 = opset1.Add(%3, %0) : tensor<1x3xf32>
      %5 = opset1.Relu(%1) : tensor<1x3xf32>
      opset1.Result(%4)
      opset1.Result(%5)
    }) : tensor<1x3xf32>, tensor<5x3xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}
