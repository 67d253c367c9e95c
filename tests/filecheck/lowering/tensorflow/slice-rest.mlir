// RUN: moir-opt %s -p lower-tf,eliminate-dead --split-input-file | filecheck %s

// A size of -1 beside a computed one leaves its axis out.
// CHECK-LABEL: moir.model @rest
// CHECK:           %size = opset1.Concat
// CHECK:           %[[S:.*]] = opset8.Gather(%size, %{{.*}}, %{{.*}}) : tensor<1xsi32>
// CHECK:           %[[E:.*]] = opset1.Add(%{{.*}}, %[[S]]) : tensor<1xsi32>
// CHECK:           opset8.Slice(%x, %{{.*}}, %[[E]], %{{.*}}, %{{.*}}) {name = "slice"} : tensor<?x48xf32>
builtin.module {
  moir.model @rest {
    %x = opset1.Parameter() {name = "x"} : tensor<64x48xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x3xf32>
    %begin = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [0, 0]>} : tensor<2xsi32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [-1]>} : tensor<1xsi32>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %s = opset3.ShapeOf(%y) {output_type = si32} : tensor<2xsi32>
    %n = opset8.Gather(%s, %zero, %axis) : tensor<1xsi32>
    %size = opset1.Concat(%n, %one) {axis = 0} : tensor<2xsi32>
    %0 = tf.Slice(%x, %begin, %size) {name = "slice"} : tensor<*x!moir.dynamic>
    opset1.Result(%0) {name = "z"}
  }
}
