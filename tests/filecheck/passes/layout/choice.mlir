// RUN: moir-opt %s -p "choose-layouts,eliminate-dead" --split-input-file | filecheck %s

// Of a network one transposition is left where it begins and one where it ends.
// CHECK-LABEL: moir.model @residual
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]], %[[V4:.*]] = opset14.MaxPool(%[[V2]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V5:.*]], %[[V6:.*]] = opset14.MaxPool(%[[V3]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V7:.*]] = opset1.Relu(%[[V5]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V8:.*]], %[[V9:.*]] = opset14.MaxPool(%[[V7]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V10:.*]] = opset1.Add(%[[V3]], %[[V8]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V11:.*]] = opset1.Relu(%[[V10]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V12:.*]], %[[V13:.*]] = opset14.MaxPool(%[[V11]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V14:.*]] = opset1.Relu(%[[V12]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V15:.*]], %[[V16:.*]] = opset14.MaxPool(%[[V14]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V17:.*]] = opset1.Add(%[[V11]], %[[V15]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V18:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V19:.*]] = opset1.Transpose(%[[V17]], %[[V18]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V20:.*]] = opset1.Relu(%[[V19]]) : tensor<2x5x6x4xf32>
// CHECK:      opset1.Result(%[[V20]])
builtin.module {
  moir.model @residual {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x4x5x6xf32>
    %3, %4 = opset14.MaxPool(%2) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%3, %5) : tensor<2x5x6x4xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<2x4x5x6xf32>
    %9, %10 = opset14.MaxPool(%8) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %11 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %12 = opset1.Transpose(%9, %11) : tensor<2x5x6x4xf32>
    %13 = opset1.Relu(%12) : tensor<2x5x6x4xf32>
    %14 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %15 = opset1.Transpose(%13, %14) : tensor<2x4x5x6xf32>
    %16, %17 = opset14.MaxPool(%15) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %18 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %19 = opset1.Transpose(%16, %18) : tensor<2x5x6x4xf32>
    %20 = opset1.Add(%6, %19) : tensor<2x5x6x4xf32>
    %21 = opset1.Relu(%20) : tensor<2x5x6x4xf32>
    %22 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %23 = opset1.Transpose(%21, %22) : tensor<2x4x5x6xf32>
    %24, %25 = opset14.MaxPool(%23) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %26 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %27 = opset1.Transpose(%24, %26) : tensor<2x5x6x4xf32>
    %28 = opset1.Relu(%27) : tensor<2x5x6x4xf32>
    %29 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %30 = opset1.Transpose(%28, %29) : tensor<2x4x5x6xf32>
    %31, %32 = opset14.MaxPool(%30) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %33 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %34 = opset1.Transpose(%31, %33) : tensor<2x5x6x4xf32>
    %35 = opset1.Add(%21, %34) : tensor<2x5x6x4xf32>
    %36 = opset1.Relu(%35) : tensor<2x5x6x4xf32>
    opset1.Result(%36)
  }
}

// -----

// An operation without a rule is a border: coordinates are in the order of the dimensions.
// CHECK-LABEL: moir.model @border
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V3:.*]] = opset1.Relu(%[[V2]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V4:.*]] = opset3.NonZero(%[[V3]]) : tensor<4x?xsi64>
// CHECK:      opset1.Result(%[[V4]])
builtin.module {
  moir.model @border {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Relu(%2) : tensor<2x5x6x4xf32>
    %4 = opset3.NonZero(%3) : tensor<4x?xsi64>
    opset1.Result(%4)
  }
}

// -----

// One transposition serves all users of a tensor in an order.
// CHECK-LABEL: moir.model @shared
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V3:.*]] = opset1.Relu(%[[V2]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V4:.*]] = opset1.Relu(%[[V2]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V5:.*]] = opset3.NonZero(%[[V4]]) : tensor<4x?xsi64>
// CHECK:      %[[V6:.*]] = opset1.Exp(%[[V0]]) : tensor<2x4x5x6xf32>
// CHECK:      opset1.Result(%[[V3]])
// CHECK:      opset1.Result(%[[V5]])
// CHECK:      opset1.Result(%[[V6]])
builtin.module {
  moir.model @shared {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Relu(%0) : tensor<2x4x5x6xf32>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %3 = opset1.Transpose(%1, %2) : tensor<2x5x6x4xf32>
    %4 = opset1.Relu(%0) : tensor<2x4x5x6xf32>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%4, %5) : tensor<2x5x6x4xf32>
    %7 = opset3.NonZero(%6) : tensor<4x?xsi64>
    %8 = opset1.Exp(%0) : tensor<2x4x5x6xf32>
    opset1.Result(%3)
    opset1.Result(%7)
    opset1.Result(%8)
  }
}

// -----

// Transpositions in a row are one.
// CHECK-LABEL: moir.model @merged
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 3, 2, 0]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<4x6x5x2xf32>
// CHECK:      %[[V3:.*]] = opset3.NonZero(%[[V2]]) : tensor<4x?xsi64>
// CHECK:      opset1.Result(%[[V3]])
builtin.module {
  moir.model @merged {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x5x6x4xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [3, 2, 1, 0]>} : tensor<4xsi64>
    %4 = opset1.Transpose(%2, %3) : tensor<4x6x5x2xf32>
    %5 = opset3.NonZero(%4) : tensor<4x?xsi64>
    opset1.Result(%5)
  }
}

// -----

// An order that is not known stays.
// CHECK-LABEL: moir.model @dynamic_order
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 3]>}
// CHECK:      %[[V2:.*]] = opset1.ReduceSum(%[[V0]], %[[V1]]) : tensor<5xf32>
// CHECK:      %[[V3:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [4]>}
// CHECK:      %[[V4:.*]], %[[V5:.*]] = opset11.TopK(%[[V2]], %[[V3]]) {axis = 0, mode = "max", sort = "value"} : tensor<4xf32>, tensor<4xsi32>
// CHECK:      %[[V6:.*]] = opset1.Transpose(%[[V0]], %[[V5]]) : tensor<?x?x?x?xf32>
// CHECK:      %[[V7:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V8:.*]] = opset1.Transpose(%[[V6]], %[[V7]]) : tensor<?x?x?x?xf32>
// CHECK:      opset1.Result(%[[V8]])
builtin.module {
  moir.model @dynamic_order {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x4x5x6xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, 3]>} : tensor<3xsi64>
    %2 = opset1.ReduceSum(%0, %1) : tensor<5xf32>
    %3 = opset1.Constant() {value = #moir.data<tensor<si64>, [4]>} : tensor<si64>
    %4, %5 = opset11.TopK(%2, %3) {axis = 0, mode = "max", sort = "value"} : tensor<4xf32>, tensor<4xsi32>
    %6 = opset1.Transpose(%0, %5) : tensor<?x?x?x?xf32>
    %7 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %8 = opset1.Transpose(%6, %7) : tensor<?x?x?x?xf32>
    opset1.Result(%8)
  }
}

// -----

// Tensor names stand for tensors in the layout of the framework: nothing is left that `relu:0` could name.
// CHECK-LABEL: moir.model @names
// CHECK:      %[[V0:.*]] = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
// CHECK:      %[[V1:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:      %[[V2:.*]] = opset1.Transpose(%[[V0]], %[[V1]]) : tensor<2x4x5x6xf32>
// CHECK:      %[[V3:.*]], %[[V4:.*]] = opset14.MaxPool(%[[V2]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3], name = "pool"} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V5:.*]] = opset1.Relu(%[[V3]]) {name = "relu"} : tensor<2x4x5x6xf32>
// CHECK:      %[[V6:.*]], %[[V7:.*]] = opset14.MaxPool(%[[V5]]) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
// CHECK:      %[[V8:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>}
// CHECK:      %[[V9:.*]] = opset1.Transpose(%[[V6]], %[[V8]]) : tensor<2x5x6x4xf32>
// CHECK:      %[[V10:.*]] = opset1.Exp(%[[V9]]) {name = "exp", tensor_names = ["exp:0"]} : tensor<2x5x6x4xf32>
// CHECK:      opset1.Result(%[[V10]])
builtin.module {
  moir.model @names {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x5x6x4xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %2 = opset1.Transpose(%0, %1) : tensor<2x4x5x6xf32>
    %3, %4 = opset14.MaxPool(%2) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %5 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %6 = opset1.Transpose(%3, %5) {name = "pool", tensor_names = ["pool:0"]} : tensor<2x5x6x4xf32>
    %7 = opset1.Relu(%6) {name = "relu", tensor_names = ["relu:0"]} : tensor<2x5x6x4xf32>
    %8 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %9 = opset1.Transpose(%7, %8) : tensor<2x4x5x6xf32>
    %10, %11 = opset14.MaxPool(%9) {dilations = [1, 1], strides = [1, 1], pads_begin = [1, 1], pads_end = [1, 1], kernel = [3, 3]} : tensor<2x4x5x6xf32>, tensor<2x4x5x6xsi64>
    %12 = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %13 = opset1.Transpose(%10, %12) : tensor<2x5x6x4xf32>
    %14 = opset1.Exp(%13) {name = "exp", tensor_names = ["exp:0"]} : tensor<2x5x6x4xf32>
    opset1.Result(%14)
  }
}
