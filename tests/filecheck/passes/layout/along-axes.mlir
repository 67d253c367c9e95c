// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// The axis is renumbered.
// CHECK-LABEL: moir.model @softmax
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset8.Softmax(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V1]])
builtin.module {
  moir.model @softmax {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset8.Softmax(%2) {axis = -1} : tensor<2x5x6x4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %5 = opset1.Transpose(%3, %4) : tensor<2x4x5x6xf32>
    opset1.Result(%5)
  }
}

// -----

// All operands are permuted; a split finds its dimension at another place.
// CHECK-LABEL: moir.model @joined
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Relu(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V2:.*]] = opset1.Concat(%[[V0]], %[[V1]]) {axis = 1} : tensor<2x8x5x6xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>}
// CHECK:      %[[V4:.*]], %[[V5:.*]] = opset1.Split(%[[V2]], %[[V3]]) {num_splits = 2} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V4]])
// CHECK:      opset1.Result(%[[V5]])
builtin.module {
  moir.model @joined {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Relu(%2) : tensor<2x5x6x4xf32>
    %4 = opset1.Concat(%2, %3) {axis = 3} : tensor<2x5x6x8xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<si64>, [-1]>} : tensor<si64>
    %6, %7 = opset1.Split(%4, %5) {num_splits = 2} : tensor<2x5x6x4xf32>, tensor<2x5x6x4xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%6, %8) : tensor<2x4x5x6xf32>
    %10 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %11 = opset1.Transpose(%7, %10) : tensor<2x4x5x6xf32>
    opset1.Result(%9)
    opset1.Result(%11)
  }
}

// -----

// Sums run along the same dimension.
// CHECK-LABEL: moir.model @sums
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>}
// CHECK:      %[[V2:.*]] = opset3.CumSum(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @sums {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %4 = opset3.CumSum(%2, %3) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// Reduced dimensions stay.
// CHECK-LABEL: moir.model @kept
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) {keep_dims = true} : tensor<2x4x1x1xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @kept {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %4 = opset1.ReduceMean(%2, %3) {keep_dims = true} : tensor<2x1x1x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x1x1xf32>
    opset1.Result(%6)
  }
}

// -----

// Both results are permuted.
// CHECK-LABEL: moir.model @sorted
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>}
// CHECK:      %[[V2:.*]], %[[V3:.*]] = opset11.TopK(%[[V0]], %[[V1]]) {axis = 3, mode = "max", sort = "value"} : tensor<2x4x5x2xf32>, tensor<2x4x5x2xsi32>
// CHECK:      opset1.Result(%[[V2]])
// CHECK:      opset1.Result(%[[V3]])
builtin.module {
  moir.model @sorted {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %4, %5 = opset11.TopK(%2, %3) {axis = 2, mode = "max", sort = "value"} : tensor<2x5x2x4xf32>, tensor<2x5x2x4xsi32>
    %6 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %7 = opset1.Transpose(%4, %6) : tensor<2x4x5x2xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%5, %8) : tensor<2x4x5x2xsi32>
    opset1.Result(%7)
    opset1.Result(%9)
  }
}
