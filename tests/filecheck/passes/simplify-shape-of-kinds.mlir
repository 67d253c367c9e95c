// RUN: moir-opt %s -p "simplify-shape-of,eliminate-dead" --split-input-file | filecheck %s

// The batch and the length of a recurrent layer's result are those of its data.
// CHECK-LABEL: moir.model @recurrent
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%[[X:.*]])
// CHECK-NOT:       ShapeOf
// CHECK:           opset8.Gather(%[[S]], %{{.*}}, %{{.*}}) {name = "batch"}
// CHECK:           opset8.Gather(%[[S]], %{{.*}}, %{{.*}}) {name = "length"}
builtin.module {
  moir.model @recurrent {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x2xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x1x1xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<?xsi32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x2xf32>, [1.0, 1.0]>} : tensor<1x1x2xf32>
    %r = opset1.Constant() {value = #moir.data<tensor<1x1x1xf32>, [1.0]>} : tensor<1x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [1.0]>} : tensor<1x1xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %sx = opset3.ShapeOf(%x) {name = "shape"} : tensor<3xsi64>
    %y, %last = opset5.RNNSequence(%x, %h, %n, %w, %r, %b) {direction = "forward", hidden_size = 1} : tensor<?x1x?x1xf32>, tensor<?x1x1xf32>
    %s = opset3.ShapeOf(%y) : tensor<4xsi64>
    %0 = opset8.Gather(%s, %zero, %zero) {name = "batch"} : tensor<si64>
    %1 = opset8.Gather(%s, %two, %zero) {name = "length"} : tensor<si64>
    opset1.Result(%sx) {name = "shape"}
    opset1.Result(%0) {name = "batch"}
    opset1.Result(%1) {name = "length"}
    opset1.Result(%last) {name = "last"}
  }
}

// -----

// A window that moves by one and is padded leaves the size as it is; along an axis where it moves by two, the size is another.
// CHECK-LABEL: moir.model @windows
// CHECK:           %[[S:.*]] = opset3.ShapeOf(%[[X:.*]])
// CHECK:           %[[T:.*]] = opset3.ShapeOf(%[[Y:.*]])
// CHECK:           opset8.Gather(%[[S]], %{{.*}}, %{{.*}}) {name = "height"}
// CHECK:           opset8.Gather(%[[T]], %{{.*}}, %{{.*}}) {name = "width"}
builtin.module {
  moir.model @windows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %three = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %sx = opset3.ShapeOf(%x) {name = "shape"} : tensor<4xsi64>
    %y = opset1.MaxPool(%x) {kernel = [3, 3], strides = [1, 2], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x3x?x?xf32>
    %s = opset3.ShapeOf(%y) : tensor<4xsi64>
    %0 = opset8.Gather(%s, %two, %zero) {name = "height"} : tensor<si64>
    %1 = opset8.Gather(%s, %three, %zero) {name = "width"} : tensor<si64>
    opset1.Result(%sx) {name = "shape"}
    opset1.Result(%0) {name = "height"}
    opset1.Result(%1) {name = "width"}
  }
}

// -----

// What depth, axes and masks fix of a result is a constant: one-hot vectors, resized images, parts of a tensor.
// CHECK-LABEL: moir.model @constants
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si64>, [5]>, name = "depth"}
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si64>, [7]>, name = "size"}
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si64>, [1]>, name = "new"}
builtin.module {
  moir.model @constants {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xsi64>
    %image = opset1.Parameter() {name = "image"} : tensor<?x3x?x?xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %two = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %five = opset1.Constant() {value = #moir.data<tensor<si64>, [5]>} : tensor<si64>
    %sizes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [7, 9]>} : tensor<2xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %0 = opset1.OneHot(%x, %five, %one, %zero) {axis = -1} : tensor<?x?x5xsi64>
    %1 = opset11.Interpolate(%image, %sizes, %axes) {mode = "nearest", shape_calculation_mode = "sizes"} : tensor<?x3x7x9xf32>
    %2 = opset1.StridedSlice(%x, %axes, %axes) {begin_mask = [1, 1], end_mask = [1, 1], new_axis_mask = [1, 0]} : tensor<1x?x?xsi64>
    %s0 = opset3.ShapeOf(%0) : tensor<3xsi64>
    %s1 = opset3.ShapeOf(%1) : tensor<4xsi64>
    %s2 = opset3.ShapeOf(%2) : tensor<3xsi64>
    %d0 = opset8.Gather(%s0, %two, %zero) {name = "depth"} : tensor<si64>
    %d1 = opset8.Gather(%s1, %two, %zero) {name = "size"} : tensor<si64>
    %d2 = opset8.Gather(%s2, %zero, %zero) {name = "new"} : tensor<si64>
    opset1.Result(%d0) {name = "depth"}
    opset1.Result(%d1) {name = "size"}
    opset1.Result(%d2) {name = "new"}
  }
}
