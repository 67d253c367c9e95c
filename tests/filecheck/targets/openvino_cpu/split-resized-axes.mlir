// RUN: moir-opt %s -p split-resized-axes,eliminate-dead,fold-constants --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @rank_4
// CHECK:           %[[L:.*]] = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 3.0]>}
// CHECK:           %[[A:.*]] = opset11.Interpolate(%x, %[[L]], %{{.*}}) {{.*}} : tensor<1x1x4x9xf32>
// CHECK:           %[[F:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [4.0]>}
// CHECK:           opset11.Interpolate(%[[A]], %[[F]], %{{.*}}) {{.*}} : tensor<4x1x4x9xf32>
builtin.module {
  moir.model @rank_4 {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x3xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3xf32>, [4.0, 2.0, 3.0]>} : tensor<3xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 3]>} : tensor<3xsi64>
    %1 = opset11.Interpolate(%x, %s, %a) {mode = "nearest", shape_calculation_mode = "scales"} : tensor<4x1x4x9xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Declines: the sizes of the batch and of the channels do not change.

// CHECK-LABEL: moir.model @images
// CHECK:           opset11.Interpolate(%x, %s)
// CHECK-NEXT:      opset1.Result
builtin.module {
  moir.model @images {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x2x3xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 2.0, 3.0]>} : tensor<4xf32>
    %1 = opset11.Interpolate(%x, %s) {mode = "cubic", shape_calculation_mode = "scales"} : tensor<?x1x4x9xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Integers are interpolated as floats, and rounded at the end.

// CHECK-LABEL: moir.model @bytes
// CHECK:           opset1.Convert(%x) {destination_type = f32}
// CHECK:           opset11.Interpolate
// CHECK:           opset11.Interpolate
// CHECK:           opset5.Round
// CHECK:           opset1.Convert({{.*}}) {destination_type = ui8}
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x3xui8>
    %s = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 2, 4, 9]>} : tensor<4xsi64>
    %1 = opset11.Interpolate(%x, %s) {mode = "linear_onnx", shape_calculation_mode = "sizes"} : tensor<2x2x4x9xui8>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Four axes of five; the data are padded once.

// CHECK-LABEL: moir.model @rank_5
// CHECK:           opset11.Interpolate(%x
// CHECK-SAME:      pads_begin = [0, 0, 1, 0, 0]
// CHECK:           opset11.Interpolate
// CHECK-NOT:       pads_begin
// CHECK:           opset1.Result
builtin.module {
  moir.model @rank_5 {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x3x3xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [4, 6, 5, 5]>} : tensor<4xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 3, 4]>} : tensor<4xsi64>
    %1 = opset11.Interpolate(%x, %s, %a) {mode = "nearest", shape_calculation_mode = "sizes", pads_begin = [0, 0, 1, 0, 0], pads_end = [0, 0, 0, 0, 0]} : tensor<1x4x6x5x5xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @rank_6
// CHECK:           opset11.Interpolate
// CHECK-SAME:      mode = "linear"
builtin.module {
  moir.model @rank_6 {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x1x1x2x3xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xf32>, [2.0]>} : tensor<1xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [5]>} : tensor<1xsi64>
    %1 = opset11.Interpolate(%x, %s, %a) {mode = "linear_onnx", shape_calculation_mode = "scales"} : tensor<1x1x1x1x2x6xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// An Interpolate of operation set 4.

// CHECK-LABEL: moir.model @earlier
// CHECK:           %[[A:.*]] = opset11.Interpolate(%x
// CHECK:           opset11.Interpolate(%[[A]]
// CHECK-NOT:       opset4
builtin.module {
  moir.model @earlier {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x2x3xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 4, 9]>} : tensor<3xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<3xf32>, [2.0, 2.0, 3.0]>} : tensor<3xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 3]>} : tensor<3xsi64>
    %1 = opset4.Interpolate(%x, %n, %s, %a) {mode = "nearest", shape_calculation_mode = "sizes"} : tensor<2x1x4x9xf32>
    opset1.Result(%1) {name = "y"}
  }
}
