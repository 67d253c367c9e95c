// RUN: moir-opt %s -p count-unsliced-iterations,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @count
// CHECK:         %[[H:.*]] = opset1.Parameter() {name = "h"}
// CHECK:         %[[SIZES:.*]] = opset3.ShapeOf(%x)
// CHECK:         %[[N:.*]] = opset8.Gather(%[[SIZES]], %
// CHECK:         opset5.Loop(%[[N]], %{{.*}}, %[[H]]) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0
// CHECK-NEXT:      %[[S:.*]] = opset1.Parameter() : tensor<3xf32>
// CHECK:           opset1.Add(%[[S]], %[[S]])
// CHECK:           opset1.Result(%{{.*}})
// CHECK-NEXT:      opset1.Result(%{{.*}})
builtin.module {
  moir.model @count {
    %x = opset1.Parameter() {name = "x"} : tensor<5x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<3xf32>
    %y = opset1.TensorIterator(%x, %h) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<1 back 0>], outputs = [#moir.port<0>]} ({
      %0 = opset1.Parameter() : tensor<1x3xf32>
      %1 = opset1.Parameter() : tensor<3xf32>
      %2 = opset1.Add(%1, %1) : tensor<3xf32>
      opset1.Result(%2)
    }) : tensor<3xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A length that is not known is computed.
// CHECK-LABEL: moir.model @length
// CHECK:         %[[SHAPE:.*]] = opset3.ShapeOf(%{{.*}})
// CHECK:         %[[N:.*]] = opset8.Gather(%[[SHAPE]], %{{.*}}, %{{.*}}) : tensor<si64>
// CHECK:         opset5.Loop(%[[N]]
builtin.module {
  moir.model @length {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<3xf32>
    %y = opset1.TensorIterator(%x, %h) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>, #moir.port<1 back 0>], outputs = [#moir.port<0>]} ({
      %0 = opset1.Parameter() : tensor<1x3xf32>
      %1 = opset1.Parameter() : tensor<3xf32>
      %2 = opset1.Add(%1, %1) : tensor<3xf32>
      opset1.Result(%2)
    }) : tensor<3xf32>
    opset1.Result(%y) {name = "y"}
  }
}
