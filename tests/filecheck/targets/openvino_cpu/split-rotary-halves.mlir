// RUN: moir-opt %s -p "split-rotary-halves,eliminate-dead" --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @rotated
// CHECK:           %[[LENGTHS:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, -1]>}
// CHECK-NEXT:      %[[A:.*]], %[[B:.*]] = opset1.VariadicSplit(%x, %axis, %[[LENGTHS]])
// CHECK-NEXT:      %[[C:.*]] = opset1.Negative(%[[B]])
// CHECK-NEXT:      opset1.Concat(%[[C]], %[[A]])
builtin.module {
  moir.model @rotated {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?x8xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %1, %2 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>
    %3 = opset1.Negative(%2) : tensor<?x4x?x4xf32>
    %4 = opset1.Concat(%3, %1) {axis = -1} : tensor<?x4x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}

// -----

// Halves that are not exchanged.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Split
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x?x8xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %1, %2 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<?x4x?x4xf32>, tensor<?x4x?x4xf32>
    %3 = opset1.Negative(%2) : tensor<?x4x?x4xf32>
    %4 = opset1.Concat(%1, %3) {axis = -1} : tensor<?x4x?x8xf32>
    opset1.Result(%4) {name = "y"}
  }
}
