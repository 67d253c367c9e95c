// RUN: moir-opt %s -p count-axes-from-first --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @negative
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 0]>} : tensor<2xsi64>
// CHECK-NEXT:      %1 = opset1.ReduceMean(%x, %0) {keep_dims = true, name = "r"} : tensor<1x?x1xf32>
builtin.module {
  moir.model @negative {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, -3]>} : tensor<2xsi64>
    %1 = opset1.ReduceMean(%x, %axes) {keep_dims = true, name = "r"} : tensor<1x?x1xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Axes that are counted from the first one, and data of unknown rank.
// CHECK-LABEL: moir.model @others
// CHECK:           opset1.ReduceMax(%x, %first) {keep_dims = true}
// CHECK:           opset1.ReduceMax(%z, %last) {keep_dims = true}
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<*xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %1 = opset1.ReduceMax(%x, %first) {keep_dims = true} : tensor<1x?xf32>
    %2 = opset1.ReduceMax(%z, %last) {keep_dims = true} : tensor<*xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}
