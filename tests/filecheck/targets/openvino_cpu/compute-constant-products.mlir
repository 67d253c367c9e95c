// RUN: moir-opt %s -p compute-constant-products | filecheck %s

// A constant by computed values, and the other way round, stay.
// CHECK:           %y = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [8.0, 18.0]>, name = "y"} : tensor<1x2xf32>
// CHECK:           opset1.MatMul(%x, %v)
// CHECK:           opset1.MatMul(%v, %a)
builtin.module {
  moir.model @products {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [2.0, 3.0]>} : tensor<1x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %y = opset1.MatMul(%a, %v) {transpose_b = true, name = "y"} : tensor<1x2xf32>
    %z = opset1.MatMul(%x, %v) {transpose_b = true} : tensor<?x2xf32>
    %u = opset1.MatMul(%v, %a) {transpose_b = true} : tensor<2x1xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
    opset1.Result(%u) {name = "u"}
  }
}
