// RUN: moir-opt %s -p infer-types | filecheck %s

// A Reshape to a shape computed from ShapeOf gets the dimensions that are known.
// CHECK-LABEL: moir.model @computed_shape
// CHECK:         opset1.Relu(%{{.*}}) : tensor<?x3x4xf32>
// CHECK:         opset1.Reshape(%{{.*}}) {special_zero = false} : tensor<?x12xf32>
builtin.module {
  moir.model @computed_shape {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %r = opset1.Relu(%x) : tensor<*x!moir.dynamic>
    %s = opset3.ShapeOf(%r) {output_type = si64} : tensor<*x!moir.dynamic>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %batch = opset8.Gather(%s, %zero, %axis) : tensor<*x!moir.dynamic>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [12]>} : tensor<1xsi64>
    %target = opset1.Concat(%batch, %rest) {axis = 0} : tensor<*x!moir.dynamic>
    %y = opset1.Reshape(%r, %target) {special_zero = false} : tensor<*x!moir.dynamic>
    opset1.Result(%y) {name = "y"}
  }
}
