// RUN: moir-opt %s -p swap-weights-of-states,eliminate-dead | filecheck %s

// CHECK-LABEL: moir.model @written
// CHECK:           %[[W:.*]] = opset1.Add(%{{.*}}, %{{.*}}) : tensor<3x4xf32>
// CHECK:           %[[P:.*]] = opset1.MatMul(%[[W]], %x) {{.*}}transpose_b = true{{.*}} : tensor<3x2xf32>
// CHECK:           opset1.Transpose(%[[P]], %{{.*}}) {{.*}} : tensor<2x3xf32>
builtin.module {
  moir.model @written {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0]>} : tensor<3x4xf32>
    %s = opset6.ReadValue(%i) {variable_id = "w", variable_type = f32, variable_shape = "3,4"} : tensor<3x4xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %w = opset1.Add(%s, %c) : tensor<3x4xf32>
    %a = opset6.Assign(%w) {variable_id = "w"} : tensor<3x4xf32>
    %1 = opset1.MatMul(%x, %w) {transpose_b = true, name = "product"} : tensor<2x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}
