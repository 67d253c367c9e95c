// RUN: moir-opt %s -p separate-products --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @columns
// CHECK:           %0 = opset1.MatMul(%x, %y) {transpose_b = true} : tensor<?x?xf32>
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
// CHECK-NEXT:      %2 = opset1.Reshape(%0, %1) {special_zero = true, name = "p"} : tensor<?x?xf32>
// CHECK-NEXT:      %{{.*}} = opset1.Relu(%2) : tensor<?x?xf32>
builtin.module {
  moir.model @columns {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x?xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.MatMul(%x, %y) {transpose_b = true, name = "p"} : tensor<?x?xf32>
    %2 = opset1.Relu(%1) : tensor<?x?xf32>
    %3 = opset1.Add(%2, %c) : tensor<?x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @any_rank
// CHECK:           %0 = opset1.MatMul(%x, %y) : tensor<*xf32>
// CHECK-NEXT:      %1 = opset3.ShapeOf(%0)
// CHECK-NEXT:      %2 = opset1.Reshape(%0, %1) {special_zero = false} : tensor<*xf32>
// CHECK-NEXT:      opset1.PRelu(%2, %c)
builtin.module {
  moir.model @any_rank {
    %x = opset1.Parameter() {name = "x"} : tensor<*xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<*xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.MatMul(%x, %y) : tensor<*xf32>
    %2 = opset1.PRelu(%1, %c) : tensor<*xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// One number, known columns, a constant after a computed term, a product with further users.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       opset1.Reshape
// CHECK:           opset1.Result
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<?x?xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<?x2xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<1x1xf32>, [2.0]>} : tensor<1x1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %1 = opset1.MatMul(%x, %y) : tensor<?x?xf32>
    %2 = opset1.Add(%1, %b) : tensor<?x?xf32>
    %3 = opset1.MatMul(%x, %z) : tensor<?x2xf32>
    %4 = opset1.Add(%3, %c) : tensor<?x2xf32>
    %5 = opset1.MatMul(%y, %x) : tensor<?x?xf32>
    %6 = opset1.Add(%5, %z) : tensor<?x2xf32>
    %7 = opset1.Add(%6, %c) : tensor<?x2xf32>
    %8 = opset1.MatMul(%y, %y) : tensor<?x?xf32>
    %9 = opset1.Add(%8, %c) : tensor<?x2xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%4) {name = "b"}
    opset1.Result(%7) {name = "c"}
    opset1.Result(%8) {name = "d"}
    opset1.Result(%9) {name = "e"}
  }
}
