// RUN: moir-opt %s -p "simplify-reshape,eliminate-dead" | filecheck %s

// A dimension that the constant target makes known is known in what is computed from the result, too.
// CHECK-LABEL: moir.model @following
// CHECK:           opset1.Reshape(%x, %{{.*}}) {special_zero = true} : tensor<?x4x8xf32>
// CHECK:           opset1.Transpose(%{{.*}}) : tensor<4x?x8xf32>
// CHECK:           opset1.Relu(%{{.*}}) {name = "last"} : tensor<4x?x8xf32>
builtin.module {
  moir.model @following {
    %x = opset1.Parameter() {name = "x"} : tensor<?x32xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, -1]>} : tensor<2xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %s = opset3.ShapeOf(%x) : tensor<2xsi64>
    %0 = opset8.Gather(%s, %first, %zero) : tensor<1xsi64>
    %1 = opset1.Concat(%0, %rest) {axis = 0} : tensor<3xsi64>
    %2 = opset1.Reshape(%x, %1) {special_zero = false} : tensor<?x4x?xf32>
    %3 = opset1.Transpose(%2, %order) : tensor<4x?x?xf32>
    %4 = opset1.Relu(%3) {name = "last"} : tensor<4x?x?xf32>
    opset1.Result(%4) {name = "y"}
  }
}
