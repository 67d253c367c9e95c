// RUN: moir-opt %s -p "cancel-reshapes,eliminate-dead" --split-input-file | filecheck %s

// Unsqueeze in a row merges, and goes into the Reshape before.
// CHECK-LABEL: moir.model @merges
// CHECK:           %[[T:.*]] = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, -1, 1, 4, 1]>}
// CHECK-NEXT:    opset1.Reshape(%{{.*}}, %[[T]]) {special_zero = true} : tensor<?x3x1x4x1xf32>
builtin.module {
  moir.model @merges {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, -1, 4]>} : tensor<3xsi64>
    %1 = opset1.Reshape(%x, %t) {special_zero = true} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %2 = opset1.Unsqueeze(%1, %a) : tensor<?x3x1x4xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %3 = opset1.Unsqueeze(%2, %b) : tensor<?x3x1x4x1xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// What is inserted and removed again cancels.
// CHECK-LABEL: moir.model @cancels
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    opset1.Result(%[[X]])
builtin.module {
  moir.model @cancels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.Unsqueeze(%x, %a) : tensor<?x1x3x4xf32>
    %2 = opset15.Squeeze(%1, %a) : tensor<?x3x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A copied dimension that the first Reshape moved is not that of the data.
// CHECK-LABEL: moir.model @moved
// CHECK:           opset1.Reshape
// CHECK:           opset1.Reshape
builtin.module {
  moir.model @moved {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x6xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 3]>} : tensor<2xsi64>
    %u = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 1, -1]>} : tensor<3xsi64>
    %1 = opset1.Reshape(%x, %t) {special_zero = true} : tensor<?x3xf32>
    %2 = opset1.Reshape(%1, %u) {special_zero = true} : tensor<?x1x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A dimension inserted into a number that is broadcast belongs to the target.
// CHECK-LABEL: moir.model @number
// CHECK:           %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 32]>}
// CHECK-NEXT:    %[[T:.*]] = opset1.Concat(%n, %[[C]]) {axis = 0} : tensor<3xsi64>
// CHECK-NEXT:    opset3.Broadcast(%zero, %[[T]]) {name = "state"} : tensor<?x1x32xf32>
builtin.module {
  moir.model @number {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %n = opset3.ShapeOf(%x) : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %size = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [32]>} : tensor<1xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %0 = opset1.Concat(%n, %size) {axis = 0} : tensor<2xsi64>
    %1 = opset3.Broadcast(%zero, %0) : tensor<?x32xf32>
    %2 = opset1.Unsqueeze(%1, %axis) {name = "state"} : tensor<?x1x32xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Back to the shape of the data: no Reshape is left.
// CHECK-LABEL: moir.model @back
// CHECK:         %[[S:.*]] = opset1.Reshape(%x, %flat)
// CHECK-NEXT:    opset1.Result(%[[S]])
// CHECK-NEXT:    opset1.Sigmoid(%x)
builtin.module {
  moir.model @back {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x4x4xf32>
    %flat = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 16]>} : tensor<3xsi64>
    %t = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, 2, 4, 4]>} : tensor<4xsi64>
    %0 = opset1.Reshape(%x, %flat) {special_zero = true} : tensor<1x2x16xf32>
    opset1.Result(%0) {name = "y"}
    %1 = opset1.Reshape(%0, %t) {special_zero = true} : tensor<1x2x4x4xf32>
    %2 = opset1.Sigmoid(%1) : tensor<1x2x4x4xf32>
    opset1.Result(%2) {name = "z"}
  }
}
