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
