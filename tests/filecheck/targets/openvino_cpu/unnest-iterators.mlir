// RUN: moir-opt %s -p unnest-iterators | filecheck %s

// The inner iterator is a Loop; the outer one stays.
// CHECK:         opset1.TensorIterator(%{{.*}}) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>]
// CHECK-NEXT:      %[[X:.*]] = opset1.Parameter() : tensor<1x5x3xf32>
// CHECK-NEXT:      %[[S:.*]] = opset3.ShapeOf(%[[X]])
// CHECK:           %[[N:.*]] = opset8.Gather(%[[S]], %
// CHECK:           opset5.Loop(%[[N]], %{{.*}}, %[[X]]) {inputs = [#moir.port<2 axis 1 from 0 to -1 stride 1 part 1>]
// CHECK-SAME:        outputs = [#moir.port<1 axis 1 from 0 to -1 stride 1 part 1>], condition = 0
builtin.module {
  moir.model @nested {
    %x = opset1.Parameter() {name = "x"} : tensor<2x5x3xf32>
    %y = opset1.TensorIterator(%x) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>]} ({
      %0 = opset1.Parameter() : tensor<1x5x3xf32>
      %1 = opset1.TensorIterator(%0) {inputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>]} ({
        %2 = opset1.Parameter() : tensor<1x1x3xf32>
        %3 = opset1.Exp(%2) : tensor<1x1x3xf32>
        opset1.Result(%3)
      }) : tensor<1x5x3xf32>
      opset1.Result(%1)
    }) : tensor<2x5x3xf32>
    opset1.Result(%y) {name = "y"}
  }
}
