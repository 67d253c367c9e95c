// RUN: moir-opt %s -p write-zero-parameters --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @hard_sigmoid
// CHECK:           %0 = opset1.Multiply(%x, %a) : tensor<?xf32>
// CHECK-NEXT:      %1 = opset1.Add(%0, %b) : tensor<?xf32>
// CHECK-NEXT:      %2 = opset1.Clamp(%1) {min = 0.0, max = 1.0, name = "h"} : tensor<?xf32>
builtin.module {
  moir.model @hard_sigmoid {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>} : tensor<f32>
    %1 = opset1.HardSigmoid(%x, %a, %b) {name = "h"} : tensor<?xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @selu
// CHECK:           %0 = opset1.Elu(%x) {alpha = 0.0} : tensor<?xf32>
// CHECK-NEXT:      %1 = opset1.Multiply(%0, %b) {name = "s"} : tensor<?xf32>
builtin.module {
  moir.model @selu {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.5]>} : tensor<1xf32>
    %1 = opset1.Selu(%x, %a, %b) {name = "s"} : tensor<?xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// No parameter is 0.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Elu
// CHECK-NOT:       Clamp
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.HardSigmoid(%x, %a, %a) : tensor<?xf32>
    %2 = opset1.Selu(%1, %a, %a) : tensor<?xf32>
    opset1.Result(%2) {name = "y"}
  }
}
