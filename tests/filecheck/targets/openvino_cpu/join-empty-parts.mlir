// RUN: moir-opt %s -p join-empty-parts --verify-each --split-input-file | filecheck %s

// Concat of a value of unknown sizes with a constant that has no element, but entries along the axis: leaves the
// constant out.
// CHECK-LABEL: moir.model @empty_constant
// CHECK:           opset3.ShapeOf(%0) : tensor<2xsi64>
// CHECK:           opset1.Add(%3, %4) : tensor<2xsi64>
// CHECK:           opset3.Broadcast(%2, %5) : tensor<?x?xf32>
// CHECK-NOT:       opset1.Concat(
builtin.module {
  moir.model @empty_constant {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<0x3xf32>, []>} : tensor<0x3xf32>
    %2 = opset1.Concat(%0, %1) {axis = 1} : tensor<0x?xf32>
    opset1.Result(%2) {name = "y0"}
  }
}
