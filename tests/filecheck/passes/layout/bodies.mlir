// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// A state of a loop is permuted in all its places.
// CHECK-LABEL: moir.model @state
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]], %[[V4:.*]] = opset14.MaxPool(%[[V2]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>}
// CHECK:      %[[V6:.*]] = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>}
// CHECK:      %[[V7:.*]] = opset5.Loop(%[[V5]], %[[V6]], %[[V3]]) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
// CHECK:      %[[V8:.*]] = opset1.Parameter() : tensor<2x4x5x6xf32>
// CHECK:      %[[V9:.*]] = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>}
// CHECK:      %[[V10:.*]], %[[V11:.*]] = opset14.MaxPool(%[[V8]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V12:.*]] = opset1.Relu(%[[V10]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V9]])
// CHECK:      opset1.Result(%[[V12]])
// CHECK:      }) : tensor<2x4x5x6xf32>
// CHECK:      %[[V13:.*]], %[[V14:.*]] = opset14.MaxPool(%[[V7]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V15:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V16:.*]] = opset1.Transpose(%[[V13]], %[[V15]]) : tensor<2x5x6x4xf32>
// CHECK:      opset1.Result(%[[V16]])
builtin.module {
  moir.model @state {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x4x5x6xf32>
    %3, %4 = opset14.MaxPool(%2) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%3, %5) : tensor<2x5x6x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %8 = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
    %9 = opset5.Loop(%7, %8, %6) {inputs = [#moir.port<2 back 1>], outputs = [#moir.port<1>], condition = 0} ({
      %10 = opset1.Parameter() : tensor<2x5x6x4xf32>
      %11 = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>} : tensor<i1>
      %12 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
      %13 = opset1.Transpose(%10, %12) : tensor<2x4x5x6xf32>
      %14, %15 = opset14.MaxPool(%13) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
      %16 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
      %17 = opset1.Transpose(%14, %16) : tensor<2x5x6x4xf32>
      %18 = opset1.Relu(%17) : tensor<2x5x6x4xf32>
      opset1.Result(%11)
      opset1.Result(%18)
    }) : tensor<2x5x6x4xf32>
    %10 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %11 = opset1.Transpose(%9, %10) : tensor<2x4x5x6xf32>
    %12, %13 = opset14.MaxPool(%11) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %14 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %15 = opset1.Transpose(%12, %14) : tensor<2x5x6x4xf32>
    opset1.Result(%15)
  }
}

// -----

// Slices are cut and joined along the dimension where it is now.
// CHECK-LABEL: moir.model @slices
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Relu(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V2:.*]] = opset1.TensorIterator(%[[V1]]) {inputs = [#moir.port<0 axis 2 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 2 from 0 to -1 stride 1 part 1>]} ({
// CHECK:      %[[V3:.*]] = opset1.Parameter() : tensor<2x4x1x6xf32>
// CHECK:      %[[V4:.*]] = opset1.Exp(%[[V3]]) : tensor<2x4x1x6xf32>
// CHECK:      opset1.Result(%[[V4]])
// CHECK:      }) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V2]])
builtin.module {
  moir.model @slices {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Relu(%0) : tensor<2x4x5x6xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %3 = opset1.Transpose(%1, %2) : tensor<2x5x6x4xf32>
    %4 = opset1.TensorIterator(%3) {inputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 1 from 0 to -1 stride 1 part 1>]} ({
      %5 = opset1.Parameter() : tensor<2x1x6x4xf32>
      %6 = opset1.Exp(%5) : tensor<2x1x6x4xf32>
      opset1.Result(%6)
    }) : tensor<2x5x6x4xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x4x5x6xf32>
    opset1.Result(%6)
  }
}

// -----

// So are inputs and outputs of both branches.
// CHECK-LABEL: moir.model @branches
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]], %[[V4:.*]] = opset14.MaxPool(%[[V2]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V5:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 2, 3]>}
// CHECK:      %[[V6:.*]] = opset1.ReduceMax(%[[V0]], %[[V5]]) : tensor<f32>
// CHECK:      %[[V7:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>}
// CHECK:      %[[V8:.*]] = opset1.Greater(%[[V6]], %[[V7]]) : tensor<i1>
// CHECK:      %[[V9:.*]] = opset8.If(%[[V8]], %[[V3]]) {then_inputs = [1], else_inputs = [1]} ({
// CHECK:      %[[V10:.*]] = opset1.Parameter() : tensor<2x4x5x6xf32>
// CHECK:      %[[V11:.*]], %[[V12:.*]] = opset14.MaxPool(%[[V10]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V13:.*]] = opset1.Relu(%[[V11]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V13]])
// CHECK:      }, {
// CHECK:      %[[V14:.*]] = opset1.Parameter() : tensor<2x4x5x6xf32>
// CHECK:      %[[V15:.*]] = opset1.Exp(%[[V14]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V15]])
// CHECK:      }) : tensor<2x4x5x6xf32>
// CHECK:      %[[V16:.*]], %[[V17:.*]] = opset14.MaxPool(%[[V9]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V18:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V19:.*]] = opset1.Transpose(%[[V16]], %[[V18]]) : tensor<2x5x6x4xf32>
// CHECK:      opset1.Result(%[[V19]])
builtin.module {
  moir.model @branches {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x4x5x6xf32>
    %3, %4 = opset14.MaxPool(%2) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%3, %5) : tensor<2x5x6x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 2, 3]>} : tensor<4xsi64>
    %8 = opset1.ReduceMax(%0, %7) : tensor<f32>
    %9 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %10 = opset1.Greater(%8, %9) : tensor<i1>
    %11 = opset8.If(%10, %6) {then_inputs = [1], else_inputs = [1]} ({
      %12 = opset1.Parameter() : tensor<2x5x6x4xf32>
      %13 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
      %14 = opset1.Transpose(%12, %13) : tensor<2x4x5x6xf32>
      %15, %16 = opset14.MaxPool(%14) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
      %17 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
      %18 = opset1.Transpose(%15, %17) : tensor<2x5x6x4xf32>
      %19 = opset1.Relu(%18) : tensor<2x5x6x4xf32>
      opset1.Result(%19)
    }, {
      %20 = opset1.Parameter() : tensor<2x5x6x4xf32>
      %21 = opset1.Exp(%20) : tensor<2x5x6x4xf32>
      opset1.Result(%21)
    }) : tensor<2x5x6x4xf32>
    %12 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %13 = opset1.Transpose(%11, %12) : tensor<2x4x5x6xf32>
    %14, %15 = opset14.MaxPool(%13) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %16 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %17 = opset1.Transpose(%14, %16) : tensor<2x5x6x4xf32>
    opset1.Result(%17)
  }
}
