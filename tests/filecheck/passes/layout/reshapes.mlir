// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// Height and width are one group; the channels pass them.
// CHECK-LABEL: moir.model @merged
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 4, -1]>}
// CHECK:      %[[V4:.*]] = opset1.Reshape(%[[V2]], %[[V3]]) {special_zero = true} : tensor<2x4x30xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @merged {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1x1xf32>
    %2 = opset1.Add(%0, %1) : tensor<2x4x5x6xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, -1, 4]>} : tensor<3xsi64>
    %6 = opset1.Reshape(%4, %5) {special_zero = true} : tensor<2x30x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<2x4x30xf32>
    opset1.Result(%8)
  }
}

// -----

// An order that tears a group apart stays.
// CHECK-LABEL: moir.model @torn
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, -1]>}
// CHECK:      %[[V4:.*]] = opset1.Reshape(%[[V2]], %[[V3]]) {special_zero = true} : tensor<2x120xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @torn {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, -1]>} : tensor<2xsi64>
    %4 = opset1.Reshape(%2, %3) {special_zero = true} : tensor<2x120xf32>
    opset1.Result(%4)
  }
}

// -----

// Dimensions of size 1 are nobody's.
// CHECK-LABEL: moir.model @ones
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<2x4x1x1xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>}
// CHECK:      %[[V4:.*]] = opset1.Reshape(%[[V2]], %[[V3]]) {special_zero = true} : tensor<2x4xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @ones {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %2 = opset1.ReduceMean(%0, %1) {keep_dims = true} : tensor<2x4x1x1xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<2x1x1x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, -1]>} : tensor<2xsi64>
    %6 = opset1.Reshape(%4, %5) {special_zero = true} : tensor<2x4xf32>
    opset1.Result(%6)
  }
}

// -----

// They may come anywhere.
// CHECK-LABEL: moir.model @to_ones
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 1, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Reshape(%[[V0]], %[[V1]]) {special_zero = true} : tensor<2x4x1x1xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @to_ones {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 1, -1]>} : tensor<4xsi64>
    %2 = opset1.Reshape(%0, %1) {special_zero = true} : tensor<2x1x1x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<2x4x1x1xf32>
    opset1.Result(%4)
  }
}
