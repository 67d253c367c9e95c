// RUN: moir-opt %s -p "simplify-reshape,eliminate-dead" --split-input-file | filecheck %s

// Dimensions of the data are copied.
// CHECK-LABEL: moir.model @copies
// CHECK:           %[[T:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 4, -1]>}
// CHECK-NEXT:    opset1.Reshape(%{{.*}}, %[[T]]) {special_zero = true, name = "last"} : tensor<?x?x4x2xf32>
// CHECK-NOT:     ShapeOf
builtin.module {
  moir.model @copies {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %r = opset1.Relu(%x) : tensor<?x?x8xf32>
    %s = opset3.ShapeOf(%r) : tensor<3xsi64>
    %0 = opset8.Gather(%s, %zero, %zero) : tensor<si64>
    %1 = opset8.Gather(%s, %one, %zero) : tensor<si64>
    %2 = opset1.Unsqueeze(%0, %front) : tensor<1xsi64>
    %3 = opset1.Unsqueeze(%1, %front) : tensor<1xsi64>
    %4 = opset1.Concat(%2, %3, %four, %rest) {axis = 0} : tensor<4xsi64>
    %5 = opset1.Reshape(%r, %4) {special_zero = false, name = "last"} : tensor<?x?x4x2xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Also dimensions that are known now: the model can be reshaped.
// CHECK-LABEL: moir.model @known
// CHECK:           opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, 4, -1]>}
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<2x6x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %r = opset1.Relu(%x) : tensor<2x6x8xf32>
    %s = opset3.ShapeOf(%r) : tensor<3xsi64>
    %0 = opset8.Gather(%s, %zero, %zero) : tensor<si64>
    %1 = opset8.Gather(%s, %one, %zero) : tensor<si64>
    %2 = opset1.Unsqueeze(%0, %front) : tensor<1xsi64>
    %3 = opset1.Unsqueeze(%1, %front) : tensor<1xsi64>
    %4 = opset1.Concat(%2, %3, %four, %rest) {axis = 0} : tensor<4xsi64>
    %5 = opset1.Reshape(%r, %4) {special_zero = false, name = "last"} : tensor<2x6x4x2xf32>
    opset1.Result(%5) {name = "y"}
  }
}

// -----

// Two entries that are none of these stay, where constants would fix the present shape.
// CHECK-LABEL: moir.model @two
// CHECK:           ShapeOf
builtin.module {
  moir.model @two {
    %x = opset1.Parameter() {name = "x"} : tensor<2x6x8xf32>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %front = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %rest = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %r = opset1.Relu(%x) : tensor<2x6x8xf32>
    %s = opset3.ShapeOf(%r) : tensor<3xsi64>
    %0 = opset8.Gather(%s, %zero, %zero) : tensor<si64>
    %1 = opset8.Gather(%s, %one, %zero) : tensor<si64>
    %2 = opset1.Unsqueeze(%0, %front) : tensor<1xsi64>
    %3 = opset1.Unsqueeze(%1, %front) : tensor<1xsi64>
    %4 = opset1.Concat(%3, %2, %four, %rest) {axis = 0} : tensor<4xsi64>
    %5 = opset1.Reshape(%r, %4) {special_zero = false, name = "last"} : tensor<6x2x4x2xf32>
    opset1.Result(%5) {name = "y"}
  }
}
