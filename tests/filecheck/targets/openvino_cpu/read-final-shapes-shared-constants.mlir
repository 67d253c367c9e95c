// RUN: moir-opt %s -p read-final-shapes | filecheck %s

// A constant that is read before the operations, too, stays there.
// CHECK-LABEL: @shared_constant
moir.model @shared_constant {
  %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
  %half = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
  // CHECK: opset1.Multiply(%x, %half)
  %scaled = opset1.Multiply(%x, %half) {name = "scaled"} : tensor<?x3xf32>
  %y = opset1.Exp(%scaled) {name = "y"} : tensor<?x3xf32>
  %size = opset3.ShapeOf(%y) {name = "size"} : tensor<2xsi64>
  %z = opset1.Multiply(%y, %half) {name = "z"} : tensor<?x3xf32>
  // CHECK: opset3.ShapeOf(%z)
  opset1.Result(%size) {name = "sizes"}
  opset1.Result(%z) {name = "result"}
}
