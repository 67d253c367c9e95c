// RUN: moir-opt %s -p "cancel-transposes,eliminate-dead" --split-input-file | filecheck %s

// Opposite transpositions cancel.
// CHECK-LABEL: moir.model @cancels
// CHECK-NEXT:    %[[X:.*]] = opset1.Parameter
// CHECK-NEXT:    opset1.Result(%[[X]])
builtin.module {
  moir.model @cancels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %1 = opset1.Transpose(%x, %a) : tensor<?x4x5x3xf32>
    %2 = opset1.Transpose(%1, %b) : tensor<?x3x4x5xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Others merge; the first stays for its other use.
// CHECK-LABEL: moir.model @merges
// CHECK:           %[[A:.*]] = opset1.Transpose(%[[X:.*]], %{{.*}}) : tensor<?x4x5x3xf32>
// CHECK:           %[[O:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>}
// CHECK:           opset1.Transpose(%[[X]], %[[O]])
builtin.module {
  moir.model @merges {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %1 = opset1.Transpose(%x, %a) : tensor<?x4x5x3xf32>
    %2 = opset1.Transpose(%1, %a) : tensor<?x5x3x4xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
  }
}

// -----

// An order that is not known stays.
// CHECK-LABEL: moir.model @unknown
// CHECK:           opset1.Transpose
// CHECK:           opset1.Transpose
builtin.module {
  moir.model @unknown {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4x5xf32>
    %o = opset1.Parameter() {name = "o"} : tensor<4xsi64>
    %a = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %1 = opset1.Transpose(%x, %o) : tensor<?x?x?x?xf32>
    %2 = opset1.Transpose(%1, %a) : tensor<?x?x?x?xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Heads are split into groups that stay beside them: the transposition is done before.
// CHECK-LABEL: @split
// CHECK-NOT: tensor<?x5x2x3x4xf32>
moir.model @split {
  %x = opset1.Parameter() {name = "x"} : tensor<?x5x6x4xf32>
  %groups = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 5, 2, 3, 4]>} : tensor<5xsi64>
  %order = opset1.Constant() {value = #moir.data<tensor<5xsi64>, [0, 2, 3, 1, 4]>} : tensor<5xsi64>
  %target = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 0, -1, 4]>} : tensor<4xsi64>
  %r = opset1.Reshape(%x, %groups) {special_zero = true} : tensor<?x5x2x3x4xf32>
  %t = opset1.Transpose(%r, %order) : tensor<?x2x3x5x4xf32>
  // CHECK: %[[ORDER:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>}
  // CHECK: %[[T:.*]] = opset1.Transpose(%x, %[[ORDER]]) : tensor<?x6x5x4xf32>
  // CHECK: %[[TARGET:.*]] = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, -1, 4]>}
  // CHECK: opset1.Reshape(%[[T]], %[[TARGET]]) {special_zero = true, name = "y"} : tensor<?x2x15x4xf32>
  %y = opset1.Reshape(%t, %target) {special_zero = true, name = "y"} : tensor<?x2x15x4xf32>
  opset1.Result(%y) {name = "y"}
}

// -----

// The parts are separated, as those of shuffled channels are.
// CHECK-LABEL: @separated
// CHECK: opset1.Transpose(%r
moir.model @separated {
  %x = opset1.Parameter() {name = "x"} : tensor<2x6x5xf32>
  %groups = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [2, 2, 3, 5]>} : tensor<4xsi64>
  %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
  %target = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 6, 5]>} : tensor<3xsi64>
  %r = opset1.Reshape(%x, %groups) {special_zero = false} : tensor<2x2x3x5xf32>
  %t = opset1.Transpose(%r, %order) : tensor<2x3x2x5xf32>
  %y = opset1.Reshape(%t, %target) {special_zero = false, name = "y"} : tensor<2x6x5xf32>
  opset1.Result(%y) {name = "y"}
}
