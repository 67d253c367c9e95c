// RUN: moir-opt %s -p "fuse-slices,eliminate-dead" --split-input-file | filecheck %s

// Slices of different axes, counted from either end.
// CHECK-LABEL: moir.model @merges
// CHECK-COUNT-1: opset8.Slice
// CHECK-NOT:     opset8.Slice
builtin.module {
  moir.model @merges {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %a, %e, %a, %a) : tensor<?x2x4xf32>
    %2 = opset8.Slice(%1, %a, %e, %a, %b) : tensor<?x2x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Slices of one axis stay.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset8.Slice
// CHECK:           opset8.Slice
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %a, %e, %a, %b) : tensor<?x3x2xf32>
    %2 = opset8.Slice(%1, %a, %e, %a, %b) : tensor<?x3x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Parts of a dimension that no input changes, of one size and of several ones.
// CHECK-LABEL: moir.model @parts
// CHECK:           %[[X:.*]] = opset1.Reshape
// CHECK:           %[[C:.*]], %[[D:.*]] = opset1.VariadicSplit(%[[X]], %{{.*}}, %{{.*}})
// CHECK:           %[[A:.*]], %[[B:.*]] = opset1.Split(%[[X]], %{{.*}}) {num_splits = 2
// CHECK:           opset1.Result(%[[B]]) {name = "b"}
builtin.module {
  moir.model @parts {
    %i = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 4]>} : tensor<2xsi64>
    %x = opset1.Reshape(%i, %t) {special_zero = false} : tensor<?x4xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %h = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %m = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [9]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %h, %e, %a, %a) {name = "second"} : tensor<?x2xf32>
    %2 = opset8.Slice(%x, %0, %h, %a, %a) {name = "first"} : tensor<?x2xf32>
    %3 = opset8.Slice(%2, %0, %a, %a, %a) : tensor<?x1xf32>
    %4 = opset8.Slice(%x, %0, %m, %a, %a) : tensor<?x3xf32>
    %5 = opset8.Slice(%x, %m, %e, %a, %m) : tensor<?x1xf32>
    opset1.Result(%1) {name = "b"}
    opset1.Result(%3) {name = "a"}
    opset1.Result(%4) {name = "c"}
    opset1.Result(%5) {name = "d"}
  }
}

// -----

// A single entry, whose dimension is removed.
// CHECK-LABEL: moir.model @entry
// CHECK:           opset8.Gather(%x, %{{.*}}, %{{.*}}) {name = "entry"} : tensor<2x7xf32>
builtin.module {
  moir.model @entry {
    %x = opset1.Parameter() {name = "x"} : tensor<2x6x7xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %t = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 7]>} : tensor<2xsi64>
    %1 = opset8.Slice(%x, %3, %4, %a, %a) : tensor<2x1x7xf32>
    %2 = opset1.Reshape(%1, %t) {special_zero = false, name = "entry"} : tensor<2x7xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Parts of a dimension of an input, which may get another size: what is counted from an end remains so.
// CHECK-LABEL: moir.model @sizes
// CHECK:           %[[E:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 1]>
// CHECK:           opset1.VariadicSplit(%x, %{{.*}}, %[[E]])
// CHECK:           %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, -1]>
// CHECK:           opset1.VariadicSplit(%x, %{{.*}}, %[[S]])
builtin.module {
  moir.model @sizes {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %h = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %m = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [9223372036854775807]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %0, %h, %a, %a) : tensor<?x2xf32>
    %2 = opset8.Slice(%x, %h, %e, %a, %a) : tensor<?x2xf32>
    %3 = opset8.Slice(%x, %0, %m, %a, %a) : tensor<?x3xf32>
    %4 = opset8.Slice(%x, %m, %e, %a, %a) : tensor<?x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
    opset1.Result(%4) {name = "d"}
  }
}

// -----

// One part is counted from the start, the next one from the end: parts of the whole for four columns only.
// CHECK-LABEL: moir.model @mixed
// CHECK:           opset8.Slice(%x
// CHECK:           opset8.Slice(%x
builtin.module {
  moir.model @mixed {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %h = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %m = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [9223372036854775807]>} : tensor<1xsi64>
    %1 = opset8.Slice(%x, %0, %h, %a, %a) : tensor<?x3xf32>
    %2 = opset8.Slice(%x, %m, %e, %a, %a) : tensor<?x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}
