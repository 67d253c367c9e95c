// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// A transposition passes through and meets its inverse.
// CHECK-LABEL: moir.model @unary
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Relu(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V1]])
builtin.module {
  moir.model @unary {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Relu(%2) : tensor<2x5x6x4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %5 = opset1.Transpose(%3, %4) : tensor<2x4x5x6xf32>
    opset1.Result(%5)
  }
}

// -----

// A vector that belongs to the last dimension belongs to the second one then.
// CHECK-LABEL: moir.model @vector
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V2:.*]] = opset1.Add(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @vector {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %4 = opset1.Add(%2, %3) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// A scalar belongs to none.
// CHECK-LABEL: moir.model @scalar
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>}
// CHECK:      %[[V2:.*]] = opset1.Multiply(%[[V1]], %[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @scalar {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %4 = opset1.Multiply(%3, %2) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// Dimensions of an operand of lower rank are put where they go.
// CHECK-LABEL: moir.model @matrix
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Sin(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>}
// CHECK:      %[[V3:.*]] = opset1.ReduceMax(%[[V0]], %[[V2]]) : tensor<4x6xf32>
// CHECK:      %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>}
// CHECK:      %[[V5:.*]] = opset1.Unsqueeze(%[[V3]], %[[V4]]) : tensor<1x4x1x6xf32>
// CHECK:      %[[V6:.*]] = opset1.Multiply(%[[V1]], %[[V5]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V6]])
builtin.module {
  moir.model @matrix {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Sin(%2) : tensor<2x5x6x4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>} : tensor<2xsi64>
    %5 = opset1.ReduceMax(%2, %4) : tensor<6x4xf32>
    %6 = opset1.Multiply(%3, %5) : tensor<2x5x6x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<2x4x5x6xf32>
    opset1.Result(%8)
  }
}

// -----

// All three operands broadcast.
// CHECK-LABEL: moir.model @select
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>}
// CHECK:      %[[V2:.*]] = opset1.Greater(%[[V0]], %[[V1]]) : tensor<2x4x5x6xi1>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V4:.*]] = opset1.Select(%[[V2]], %[[V0]], %[[V3]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @select {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %4 = opset1.Greater(%2, %3) : tensor<2x5x6x4xi1>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %6 = opset1.Select(%4, %2, %5) : tensor<2x5x6x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<2x4x5x6xf32>
    opset1.Result(%8)
  }
}

// -----

// A slope of one dimension belongs to dimension 1.
// CHECK-LABEL: moir.model @slope
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<1x1x5x1xf32>, [1.0, 2.0, 3.0, 4.0, 5.0]>}
// CHECK:      %[[V2:.*]] = opset1.PRelu(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @slope {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<5xf32>, [1.0, 2.0, 3.0, 4.0, 5.0]>} : tensor<5xf32>
    %4 = opset1.PRelu(%2, %3) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// Limits of the last dimension move to the second one, where the runtime takes them.
// CHECK-LABEL: moir.model @quantized
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>}
// CHECK:      %[[V2:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>}
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [-1.0, -2.0, -3.0, -4.0]>}
// CHECK:      %[[V4:.*]] = opset1.Constant() {value = #moir.data<tensor<1x4x1x1xf32>, [1.0, 2.0, 3.0, 4.0]>}
// CHECK:      %[[V5:.*]] = opset1.FakeQuantize(%[[V0]], %[[V3]], %[[V4]], %[[V1]], %[[V2]]) {levels = 256} : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V5]])
builtin.module {
  moir.model @quantized {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [-1.0, -2.0, -3.0, -4.0]>} : tensor<4xf32>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %6 = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %7 = opset1.FakeQuantize(%2, %3, %4, %5, %6) {levels = 256} : tensor<2x5x6x4xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%7, %8) : tensor<2x4x5x6xf32>
    opset1.Result(%9)
  }
}
