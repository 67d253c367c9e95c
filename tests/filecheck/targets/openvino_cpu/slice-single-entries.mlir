// RUN: moir-opt %s -p slice-single-entries --verify-each --split-input-file | filecheck %s

// One entry of data of known sizes is a slice that removes the axis; one that is counted from the end remains so.
// CHECK-LABEL: moir.model @entries
// CHECK:           %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 3]>
// CHECK:           %[[E:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 4]>
// CHECK:           opset1.StridedSlice(%x, %[[B]], %[[E]], %{{.*}}) {new_axis_mask = [0, 0], shrink_axis_mask = [0, 1], ellipsis_mask = [0, 0], begin_mask = [1, 0], end_mask = [1, 0]
// CHECK:           %[[L:.*]] = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 0, -1]>
// CHECK:           opset1.StridedSlice(%x, %[[L]]
builtin.module {
  moir.model @entries {
    %x = opset1.Parameter() {name = "x"} : tensor<2x8x16xf32>
    %three = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %last = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset8.Gather(%x, %three, %one) {batch_dims = 0, name = "a"} : tensor<2x16xf32>
    %2 = opset8.Gather(%x, %last, %last) {batch_dims = 0, name = "b"} : tensor<2x8xf32>
    opset1.Result(%1) {name = "p"}
    opset1.Result(%2) {name = "q"}
  }
}

// -----

// A list of one index keeps the axis, data of unknown sizes and leading entries are read faster by a Gather, and
// integers may be shapes.
// CHECK-LABEL: moir.model @left
// CHECK-NOT:     StridedSlice
builtin.module {
  moir.model @left {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<4x8xsi64>
    %list = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %three = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %1 = opset8.Gather(%x, %list, %one) {batch_dims = 0, name = "a"} : tensor<?x1xf32>
    %2 = opset8.Gather(%x, %three, %zero) {batch_dims = 0, name = "b"} : tensor<8xf32>
    %m = opset1.Parameter() {name = "m"} : tensor<1x4x8xf32>
    %4 = opset8.Gather(%m, %three, %one) {batch_dims = 0, name = "d"} : tensor<1x8xf32>
    opset1.Result(%4) {name = "s"}
    %3 = opset8.Gather(%n, %three, %one) {batch_dims = 0, name = "c"} : tensor<4xsi64>
    opset1.Result(%1) {name = "p"}
    opset1.Result(%2) {name = "q"}
    opset1.Result(%3) {name = "r"}
  }
}
