// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// What is left of the dimensions has its order already.
// CHECK-LABEL: moir.model @reduced
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) : tensor<2x4xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @reduced {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 2]>} : tensor<2xsi64>
    %4 = opset1.ReduceMean(%2, %3) : tensor<2x4xf32>
    opset1.Result(%4)
  }
}

// -----

// What is left is still permuted.
// CHECK-LABEL: moir.model @partly_reduced
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceMean(%[[V0]], %[[V1]]) : tensor<2x4x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @partly_reduced {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset1.ReduceMean(%2, %3) : tensor<2x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x6xf32>
    opset1.Result(%6)
  }
}

// -----

// New dimensions stay where they are.
// CHECK-LABEL: moir.model @inserted
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>}
// CHECK:      %[[V2:.*]] = opset1.Unsqueeze(%[[V0]], %[[V1]]) : tensor<2x1x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @inserted {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset1.Unsqueeze(%2, %3) : tensor<2x1x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 1, 4, 2, 3]>} : tensor<5xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x1x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// Dimensions of size one go.
// CHECK-LABEL: moir.model @removed
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x1x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>}
// CHECK:      %[[V2:.*]] = opset15.Squeeze(%[[V0]], %[[V1]]) : tensor<2x4x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @removed {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x1x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x1x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset15.Squeeze(%2, %3) : tensor<2x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x6xf32>
    opset1.Result(%6)
  }
}

// -----

// The dimensions of the indices are where the indexed one was.
// CHECK-LABEL: moir.model @gathered
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<2x2xsi64>, [1, 0, 2, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>}
// CHECK:      %[[V3:.*]] = opset8.Gather(%[[V0]], %[[V1]], %[[V2]]) : tensor<2x2x2x5x6xf32>
// CHECK:      opset1.Result(%[[V3]])
builtin.module {
  moir.model @gathered {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<2x2xsi64>, [1, 0, 2, 1]>} : tensor<2x2xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %5 = opset8.Gather(%2, %3, %4) : tensor<2x5x6x2x2xf32>
    %6 = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 3, 4, 1, 2]>} : tensor<5xsi64>
    %7 = opset1.Transpose(%5, %6) : tensor<2x2x2x5x6xf32>
    opset1.Result(%7)
  }
}

// -----

// The classes of a one-hot encoding come last.
// CHECK-LABEL: moir.model @encoded
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Convert(%[[V0]]) {destination_type = si32} : tensor<2x4x5x6xsi32>
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>}
// CHECK:      %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>}
// CHECK:      %[[V5:.*]] = opset16.OneHot(%[[V1]], %[[V2]], %[[V3]], %[[V4]]) {axis = 4} : tensor<2x4x5x6x3xf32>
// CHECK:      opset1.Result(%[[V5]])
builtin.module {
  moir.model @encoded {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Convert(%2) {destination_type = si32} : tensor<2x5x6x4xsi32>
    %4 = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %6 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %7 = opset16.OneHot(%3, %4, %5, %6) {axis = -1} : tensor<2x5x6x4x3xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 3, 1, 2, 4]>} : tensor<5xsi64>
    %9 = opset1.Transpose(%7, %8) : tensor<2x4x5x6x3xf32>
    opset1.Result(%9)
  }
}

// -----

// A shape is put back in order rather than the tensor.
// CHECK-LABEL: moir.model @shape
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset3.ShapeOf(%[[V0]]) : tensor<4xsi64>
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>}
// CHECK:      %[[V4:.*]] = opset8.Gather(%[[V1]], %[[V2]], %[[V3]]) : tensor<4xsi64>
// CHECK:      %[[V5:.*]] = opset1.Relu(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V4]])
// CHECK:      opset1.Result(%[[V5]])
builtin.module {
  moir.model @shape {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset3.ShapeOf(%2) : tensor<4xsi64>
    %4 = opset1.Relu(%0) : tensor<2x4x5x6xf32>
    opset1.Result(%3)
    opset1.Result(%4)
  }
}
