// RUN: moir-opt %s -p complete-slices,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @gathered
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>} : tensor<2xsi64>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
// CHECK-NEXT:      %2 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>} : tensor<2xsi64>
// CHECK-NEXT:      %3 = opset1.StridedSlice(%x, %1, %0, %2) {begin_mask = [1, 1], end_mask = [1, 0]} : tensor<2x?xf32>
// CHECK-NEXT:      %4 = opset6.GatherElements(%3, %i) {axis = 0, name = "y"} : tensor<?x2xf32>
builtin.module {
  moir.model @gathered {
    %x = opset1.Parameter() {name = "x"} : tensor<2x?xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<?x2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %o = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %0 = opset8.Slice(%x, %o, %n, %s, %s) : tensor<2x?xf32>
    %1 = opset6.GatherElements(%0, %i) {axis = 0, name = "y"} : tensor<?x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// The runtime keeps a slice that starts elsewhere.
// CHECK-LABEL: moir.model @later
// CHECK:           opset8.Slice
// CHECK-NEXT:      opset6.GatherElements
builtin.module {
  moir.model @later {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<?x2xsi64>
    %n = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %0 = opset8.Slice(%x, %s, %n, %s, %s) : tensor<2x2xf32>
    %1 = opset6.GatherElements(%0, %i) {axis = 0, name = "y"} : tensor<?x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}
