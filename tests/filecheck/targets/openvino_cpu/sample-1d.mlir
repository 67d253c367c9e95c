// RUN: moir-opt %s -p sample-1d --verify-each --split-input-file | filecheck %s

// RandomUniform of a scalar: is not written.
// CHECK-LABEL: moir.model @random_scalar
// CHECK:           opset8.RandomUniform(%4, %2, %3) {op_seed = 2, global_seed = 1, output_type = f32} : tensor<1xf32>
// CHECK:           opset15.Squeeze(%5, %6) : tensor<f32>
// CHECK:           opset1.Add(%7, %0) : tensor<f32>
builtin.module {
  moir.model @random_scalar {
    %0 = opset1.Parameter() {name = "x0"} : tensor<f32>
    %1 = opset1.Constant() {value = #moir.data<tensor<0xsi64>, []>} : tensor<0xsi64>
    %2 = opset1.Constant() {value = #moir.data<tensor<f32>, [5.0]>} : tensor<f32>
    %3 = opset1.Constant() {value = #moir.data<tensor<f32>, [5.0000005]>} : tensor<f32>
    %4 = opset8.RandomUniform(%1, %2, %3) {op_seed = 2, global_seed = 1, output_type = f32} : tensor<f32>
    %5 = opset1.Add(%4, %0) : tensor<f32>
    opset1.Result(%5) {name = "y0"}
  }
}

// -----

// Multinomial with two uses: is not compiled.
// CHECK-LABEL: moir.model @multinomial_uses
// CHECK:           opset1.Abs(%2) : tensor<1x3xsi32>
// CHECK:           opset1.Concat(%3) {axis = 0} : tensor<1x3xsi32>
// CHECK:           opset1.Add(%3, %4) : tensor<1x3xsi32>
builtin.module {
  moir.model @multinomial_uses {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x1xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %2 = opset13.Multinomial(%0, %1) {global_seed = 1, op_seed = 2, convert_type = si32, with_replacement = true, log_probs = false} : tensor<1x3xsi32>
    %3 = opset1.Concat(%2) {axis = 0} : tensor<1x3xsi32>
    %4 = opset1.Add(%2, %3) : tensor<1x3xsi32>
    opset1.Result(%4) {name = "y0"}
  }
}
