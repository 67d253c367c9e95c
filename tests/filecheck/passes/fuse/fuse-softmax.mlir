// RUN: moir-opt %s -p fuse-softmax,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: @softmax
moir.model @softmax {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %m = opset1.ReduceMax(%x, %axis) {keep_dims = true} : tensor<2x1xf32>
  %d = opset1.Subtract(%x, %m) : tensor<2x3xf32>
  %e = opset1.Exp(%d) : tensor<2x3xf32>
  %s = opset1.ReduceSum(%e, %axis) {keep_dims = true} : tensor<2x1xf32>
  // CHECK: opset8.Softmax(%x) {name = "y"}
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<2x3xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The sum is along another axis.
// CHECK-LABEL: @other
moir.model @other {
  %x = opset1.Parameter() {name = "x"} : tensor<3x3xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %m = opset1.ReduceMax(%x, %axis) {keep_dims = true} : tensor<3x1xf32>
  %d = opset1.Subtract(%x, %m) : tensor<3x3xf32>
  %e = opset1.Exp(%d) : tensor<3x3xf32>
  %s = opset1.ReduceSum(%e, %first) {keep_dims = true} : tensor<1x3xf32>
  // CHECK: opset1.Divide
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<3x3xf32>
  opset1.Result(%y) {name = "y"}
}
