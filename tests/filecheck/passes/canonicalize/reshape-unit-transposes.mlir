// RUN: moir-opt %s -p "reshape-unit-transposes,eliminate-dead" --split-input-file | filecheck %s

// A transposition that moves ones only.
// CHECK-LABEL: moir.model @ones
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>}
// CHECK:      %[[V4:.*]] = opset1.ReduceMean(%[[V2]], %[[V3]]) {keep_dims = true} : tensor<2x4x1x1xf32>
// CHECK:      %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 1, 4]>}
// CHECK:      %[[V6:.*]] = opset1.Reshape(%[[V4]], %[[V5]]) {special_zero = true} : tensor<2x1x1x4xf32>
// CHECK:      opset1.Result(%[[V6]])
builtin.module {
  moir.model @ones {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
    %2 = opset1.Add(%0, %1) : tensor<2x4x5x6xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %4 = opset1.ReduceMean(%2, %3) {keep_dims = true} : tensor<2x4x1x1xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x1x1x4xf32>
    opset1.Result(%6)
  }
}

// -----

// One dimension that is not known may move.
// CHECK-LABEL: moir.model @one_unknown
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>}
// CHECK:      %[[V4:.*]] = opset1.ReduceMean(%[[V2]], %[[V3]]) {keep_dims = true} : tensor<1x4x1x6xf32>
// CHECK:      %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V6:.*]] = opset1.Transpose(%[[V4]], %[[V5]]) : tensor<1x6x4x1xf32>
// CHECK:      %[[V7:.*]] = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 2]>}
// CHECK:      %[[V8:.*]] = opset1.ReduceMean(%[[V0]], %[[V7]]) {keep_dims = true} : tensor<1x1x1x6xf32>
// CHECK:      %[[V9:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [-1, 1, 1, 1]>}
// CHECK:      %[[V10:.*]] = opset1.Reshape(%[[V8]], %[[V9]]) {special_zero = true} : tensor<6x1x1x1xf32>
// CHECK:      opset1.Result(%[[V6]])
// CHECK:      opset1.Result(%[[V10]])
builtin.module {
  moir.model @one_unknown {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
    %2 = opset1.Add(%0, %1) : tensor<2x4x5x6xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>} : tensor<2xsi64>
    %4 = opset1.ReduceMean(%2, %3) {keep_dims = true} : tensor<1x4x1x6xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<1x6x4x1xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 2]>} : tensor<3xsi64>
    %8 = opset1.ReduceMean(%0, %7) {keep_dims = true} : tensor<1x1x1x6xf32>
    %9 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [3, 0, 1, 2]>} : tensor<4xsi64>
    %10 = opset1.Transpose(%8, %9) : tensor<6x1x1x1xf32>
    opset1.Result(%6)
    opset1.Result(%10)
  }
}

// -----

// Two cannot.
// CHECK-LABEL: moir.model @two_unknown
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<1x1x5x6xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 0, 3, 1]>}
// CHECK:      %[[V4:.*]] = opset1.Transpose(%[[V2]], %[[V3]]) : tensor<5x1x6x1xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @two_unknown {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>} : tensor<2xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<1x1x5x6xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 0, 3, 1]>} : tensor<4xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<5x1x6x1xf32>
    opset1.Result(%4)
  }
}

// -----

// A dimension that an input could be given anew stays where it is.
// CHECK-LABEL: moir.model @image
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x1x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x5x6x1xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @image {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x1x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x1xf32>
    opset1.Result(%2)
  }
}
