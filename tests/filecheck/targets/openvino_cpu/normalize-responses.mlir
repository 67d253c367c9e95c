// RUN: moir-opt %s -p normalize-responses --verify-each --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @fractional_bias
// CHECK:           opset1.LRN(%x, %axes) {alpha = 4.0, beta = 1.0, bias = 1.0, size = 3} : tensor<1x3x?xf32>
// CHECK-NEXT:      opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
// CHECK-NEXT:      opset1.Multiply
builtin.module {
  moir.model @fractional_bias {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %y = opset1.LRN(%x, %axes) {alpha = 2.0, beta = 1.0, bias = 0.5, size = 3, name = "y"} : tensor<1x3x?xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @unknown_channels
// CHECK:           opset1.Power({{.*}}) : tensor<?x?x?xf32>
// CHECK-NEXT:      opset1.Divide(%x, {{.*}}) {name = "y"} : tensor<?x?x?xf32>
// CHECK-NOT:       opset1.LRN
builtin.module {
  moir.model @unknown_channels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %y = opset1.LRN(%x, %axes) {alpha = 2.0, beta = 1.0, bias = 0.5, size = 3, name = "y"} : tensor<?x?x?xf32>
    opset1.Result(%y) {name = "out"}
  }
}

// -----

// CHECK-LABEL: moir.model @usual
// CHECK:           opset1.LRN(%x, %axes) {alpha = 2.0, beta = 0.75, bias = 1.0, size = 3, name = "y"}
builtin.module {
  moir.model @usual {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %y = opset1.LRN(%x, %axes) {alpha = 2.0, beta = 0.75, bias = 1.0, size = 3, name = "y"} : tensor<?x3x?xf32>
    opset1.Result(%y) {name = "out"}
  }
}
