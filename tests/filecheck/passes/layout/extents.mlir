// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// Paddings change places.
// CHECK-LABEL: moir.model @padded
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 0, 1]>}
// CHECK:      %[[V3:.*]] = opset12.Pad(%[[V0]], %[[V1]], %[[V2]]) {pad_mode = "constant"} : tensor<2x7x6x9xf32>
// CHECK:      opset1.Result(%[[V3]])
builtin.module {
  moir.model @padded {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 2, 0]>} : tensor<4xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 3]>} : tensor<4xsi64>
    %5 = opset12.Pad(%2, %3, %4) {pad_mode = "constant"} : tensor<2x6x9x7xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %7 = opset1.Transpose(%5, %6) : tensor<2x7x6x9xf32>
    opset1.Result(%7)
  }
}

// -----

// So do repeats, the inverse of how the dimensions do.
// CHECK-LABEL: moir.model @repeated
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 2, 3]>}
// CHECK:      %[[V2:.*]] = opset1.Tile(%[[V0]], %[[V1]]) : tensor<2x4x10x18xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @repeated {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 3, 1]>} : tensor<4xsi64>
    %4 = opset1.Tile(%2, %3) : tensor<2x10x18x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x10x18xf32>
    opset1.Result(%6)
  }
}

// -----

// Sliced dimensions are renumbered.
// CHECK-LABEL: moir.model @sliced
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 2]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>}
// CHECK:      %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 1]>}
// CHECK:      %[[V5:.*]] = opset8.Slice(%[[V0]], %[[V1]], %[[V2]], %[[V3]], %[[V4]]) : tensor<2x2x5x2xf32>
// CHECK:      opset1.Result(%[[V5]])
builtin.module {
  moir.model @sliced {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 2]>} : tensor<2xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>} : tensor<2xsi64>
    %6 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %7 = opset8.Slice(%2, %3, %4, %5, %6) : tensor<2x5x2x2xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%7, %8) : tensor<2x2x5x2xf32>
    opset1.Result(%9)
  }
}

// -----

// An index is written out.
// CHECK-LABEL: moir.model @indexed
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 0, 0]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 4, 0, 0]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 1, 1]>}
// CHECK:      %[[V4:.*]] = opset1.StridedSlice(%[[V0]], %[[V1]], %[[V2]], %[[V3]]) {new_axis_mask = [0, 0, 0, 0], shrink_axis_mask = [0, 0, 0, 0], begin_mask = [0, 0, 1, 1], end_mask = [0, 1, 1, 1]} : tensor<1x2x5x6xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @indexed {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 0, 2]>} : tensor<3xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 0, 4]>} : tensor<3xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 1, 1]>} : tensor<3xsi64>
    %6 = opset1.StridedSlice(%2, %3, %4, %5) {ellipsis_mask = [0, 1, 0], begin_mask = [0, 0, 0], end_mask = [0, 0, 1]} : tensor<1x5x6x2xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<1x2x5x6xf32>
    opset1.Result(%8)
  }
}

// -----

// Blocks change places as long as the batch is composed in the same order.
// CHECK-LABEL: moir.model @blocks
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 1, 5, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>}
// CHECK:      %[[V4:.*]] = opset2.SpaceToBatch(%[[V0]], %[[V1]], %[[V2]], %[[V3]]) : tensor<20x4x1x3xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @blocks {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 5, 2, 1]>} : tensor<4xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 0, 0]>} : tensor<4xsi64>
    %6 = opset2.SpaceToBatch(%2, %3, %4, %5) : tensor<20x1x3x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<20x4x1x3xf32>
    opset1.Result(%8)
  }
}

// -----

// Only to the end of the tensor may resized dimensions move.
// CHECK-LABEL: moir.model @resized
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [7, 3]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>}
// CHECK:      %[[V3:.*]] = opset11.Interpolate(%[[V0]], %[[V1]], %[[V2]]) {mode = "nearest", shape_calculation_mode = "sizes"} : tensor<2x4x7x3xf32>
// CHECK:      opset1.Result(%[[V3]])
builtin.module {
  moir.model @resized {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [7, 3]>} : tensor<2xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %5 = opset11.Interpolate(%2, %3, %4) {mode = "nearest", shape_calculation_mode = "sizes"} : tensor<2x7x3x4xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %7 = opset1.Transpose(%5, %6) : tensor<2x4x7x3xf32>
    opset1.Result(%7)
  }
}

// -----

// A computed vector is put in order by a Gather.
// CHECK-LABEL: moir.model @computed
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Parameter() {name = "x1"} : tensor<4xf32>
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>}
// CHECK:      %[[V3:.*]] = opset1.ReduceSum(%[[V0]], %[[V2]]) {keep_dims = true} : tensor<2x4x1x6xf32>
// CHECK:      %[[V4:.*]] = opset1.Convert(%[[V1]]) {destination_type = si64} : tensor<4xsi64>
// CHECK:      %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V6:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>}
// CHECK:      %[[V7:.*]] = opset8.Gather(%[[V4]], %[[V5]], %[[V6]]) : tensor<4xsi64>
// CHECK:      %[[V8:.*]] = opset3.Broadcast(%[[V3]], %[[V7]]) : tensor<?x?x?x?xf32>
// CHECK:      opset1.Result(%[[V8]])
builtin.module {
  moir.model @computed {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<4xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %3 = opset1.Transpose(%0, %2) : tensor<2x5x6x4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %5 = opset1.ReduceSum(%3, %4) {keep_dims = true} : tensor<2x1x6x4xf32>
    %6 = opset1.Convert(%1) {destination_type = si64} : tensor<4xsi64>
    %7 = opset3.Broadcast(%5, %6) : tensor<?x?x?x?xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%7, %8) : tensor<?x?x?x?xf32>
    opset1.Result(%9)
  }
}
