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

// The sum is along another axis than the greatest element: the differences are normalized.
// CHECK-LABEL: @other
moir.model @other {
  %x = opset1.Parameter() {name = "x"} : tensor<3x3xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %m = opset1.ReduceMax(%x, %axis) {keep_dims = true} : tensor<3x1xf32>
  // CHECK: %[[D:.*]] = opset1.Subtract
  %d = opset1.Subtract(%x, %m) : tensor<3x3xf32>
  %e = opset1.Exp(%d) : tensor<3x3xf32>
  %s = opset1.ReduceSum(%e, %first) {keep_dims = true} : tensor<1x3xf32>
  // CHECK-NEXT: opset8.Softmax(%[[D]]) {axis = 0, name = "y"}
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<3x3xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The sum has lost its dimension, and is broadcast along another one.
// CHECK-LABEL: @dropped
moir.model @dropped {
  %x = opset1.Parameter() {name = "x"} : tensor<3x3xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %e = opset1.Exp(%x) : tensor<3x3xf32>
  %s = opset1.ReduceSum(%e, %axis) : tensor<3xf32>
  // CHECK: opset1.Divide
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<3x3xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The logarithm, with a number for each row that another operation computes.
// CHECK-LABEL: @logarithm
moir.model @logarithm {
  %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
  %c = opset1.Parameter() {name = "c"} : tensor<2x1xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %d = opset1.Subtract(%x, %c) : tensor<2x3xf32>
  %e = opset1.Exp(%d) : tensor<2x3xf32>
  %s = opset1.ReduceSum(%e, %axis) {keep_dims = true} : tensor<2x1xf32>
  %l = opset1.Log(%s) : tensor<2x1xf32>
  // CHECK: opset5.LogSoftmax(%x) {name = "y"}
  %y = opset1.Subtract(%d, %l) {name = "y"} : tensor<2x3xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// What is subtracted may have more columns than the data, [N, 1] - [M], unless it is the greatest element of each row.
// CHECK-LABEL: @wider
moir.model @wider {
  %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
  %c = opset1.Parameter() {name = "c"} : tensor<?xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  %d = opset1.Subtract(%x, %c) : tensor<?x?xf32>
  %e = opset1.Exp(%d) : tensor<?x?xf32>
  %s = opset1.ReduceSum(%e, %axis) {keep_dims = true} : tensor<1x?xf32>
  // CHECK: %[[D:.*]] = opset1.Subtract
  // CHECK-NEXT: opset8.Softmax(%[[D]]) {axis = 0, name = "y"}
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<?x?xf32>
  opset1.Result(%y) {name = "y"}
}

// CHECK-LABEL: @greatest
moir.model @greatest {
  %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
  %m = opset1.ReduceMax(%x, %axis) {keep_dims = false} : tensor<?xf32>
  %c = opset1.Unsqueeze(%m, %axis) : tensor<?x1xf32>
  %d = opset1.Subtract(%x, %c) : tensor<?x8xf32>
  %e = opset1.Exp(%d) : tensor<?x8xf32>
  %s = opset1.ReduceSum(%e, %axis) {keep_dims = true} : tensor<?x1xf32>
  // CHECK: opset8.Softmax(%x) {name = "y"}
  %y = opset1.Divide(%e, %s) {name = "y"} : tensor<?x8xf32>
  opset1.Result(%y) {name = "y"}
}
