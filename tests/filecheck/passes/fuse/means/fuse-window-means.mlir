// RUN: moir-opt %s -p fuse-window-means,eliminate-dead --split-input-file | filecheck %s

// The size of the windows cancels; a Transpose stays.
// CHECK-LABEL: moir.model @size
// CHECK:         %[[P:.*]] = opset14.AvgPool(%x)
// CHECK-NOT:     opset1.Multiply
// CHECK:         opset1.Transpose(%[[P]], %{{.*}}) {name = "y"}
// CHECK-NOT:     opset1.Divide
builtin.module {
  moir.model @size {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x4x4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>} : tensor<f32>
    %o = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %p = opset14.AvgPool(%x) {kernel = [2, 2], strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], "exclude-pad" = false} : tensor<?x2x2x2xf32>
    %m = opset1.Multiply(%p, %c) : tensor<?x2x2x2xf32>
    %t = opset1.Transpose(%m, %o) : tensor<?x2x2x2xf32>
    %y = opset1.Divide(%t, %c) {name = "y"} : tensor<?x2x2x2xf32>
    opset1.Result(%y) {name = "z"}
  }
}

// -----

// The numbers of elements in the windows, as a constant.
// CHECK-LABEL: moir.model @counts
// CHECK:         opset14.AvgPool(%x) {{{.*}}"exclude-pad" = true, name = "y"}
// CHECK-NOT:     opset1.Divide
builtin.module {
  moir.model @counts {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %n = opset1.Constant() {value = #moir.data<tensor<3xf32>, [2.0, 3.0, 2.0]>} : tensor<3xf32>
    %p = opset14.AvgPool(%x) {kernel = [3], strides = [1], pads_begin = [1], pads_end = [1], "exclude-pad" = false} : tensor<?x2x3xf32>
    %m = opset1.Multiply(%p, %c) : tensor<?x2x3xf32>
    %y = opset1.Divide(%m, %n) {name = "y"} : tensor<?x2x3xf32>
    opset1.Result(%y) {name = "z"}
  }
}

// -----

// The sum of the same windows of ones.
// CHECK-LABEL: moir.model @ones
// CHECK:         opset14.AvgPool(%x) {{{.*}}"exclude-pad" = true, name = "y"}
// CHECK-NOT:     opset1.Divide
builtin.module {
  moir.model @ones {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %i = opset1.Constant() {value = #moir.data<tensor<1x1x3xf32>, [1.0, 1.0, 1.0]>} : tensor<1x1x3xf32>
    %p = opset14.AvgPool(%x) {kernel = [3], strides = [1], pads_begin = [1], pads_end = [1], "exclude-pad" = false} : tensor<?x2x3xf32>
    %q = opset14.AvgPool(%i) {kernel = [3], strides = [1], pads_begin = [1], pads_end = [1], "exclude-pad" = false} : tensor<1x1x3xf32>
    %m = opset1.Multiply(%p, %c) : tensor<?x2x3xf32>
    %n = opset1.Multiply(%q, %c) : tensor<1x1x3xf32>
    %y = opset1.Divide(%m, %n) {name = "y"} : tensor<?x2x3xf32>
    opset1.Result(%y) {name = "z"}
  }
}

// -----

// Other numbers stay.
// CHECK-LABEL: moir.model @others
// CHECK:         opset1.Multiply
// CHECK:         opset1.Divide
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %n = opset1.Constant() {value = #moir.data<tensor<3xf32>, [2.0, 3.0, 3.0]>} : tensor<3xf32>
    %p = opset14.AvgPool(%x) {kernel = [3], strides = [1], pads_begin = [1], pads_end = [1], "exclude-pad" = false} : tensor<?x2x3xf32>
    %m = opset1.Multiply(%p, %c) : tensor<?x2x3xf32>
    %y = opset1.Divide(%m, %n) {name = "y"} : tensor<?x2x3xf32>
    opset1.Result(%y) {name = "z"}
  }
}
