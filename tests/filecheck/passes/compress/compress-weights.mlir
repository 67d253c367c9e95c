// RUN: moir-opt %s -p 'fold-constants,compress-weights' | filecheck %s
// RUN: moir-opt %s -p 'fold-constants,compress-weights,compress-to-fp16,fold-constants' | filecheck %s
// RUN: moir-opt %s -p 'fold-constants,compress-weights{codes="int8_sym"}' | filecheck %s --check-prefix=SYM
// RUN: moir-opt %s -p 'fold-constants,compress-weights{codes="int4:16:1"}' | filecheck %s --check-prefix=FOUR

// One scale and one zero point for each column of a matrix; the last operation has the names of the constant. Later
// passes keep the form.
// CHECK-LABEL: moir.model @matrix
// CHECK:         %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<32x64xui8>, elided "{{.*}}">, name = "w_compressed"} : tensor<32x64xui8>
// CHECK-NEXT:    %[[D:.*]] = opset1.Convert(%[[C]]) {destination_type = f16} : tensor<32x64xf16>
// CHECK-NEXT:    %[[P:.*]] = opset1.Constant() {value = #moir.data<tensor<1x64xui8>, [132, {{.*}}]>, name = "w_zero_point"} : tensor<1x64xui8>
// CHECK-NEXT:    %[[Z:.*]] = opset1.Convert(%[[P]]) {destination_type = f16} : tensor<1x64xf16>
// CHECK-NEXT:    %[[N:.*]] = opset1.Subtract(%[[D]], %[[Z]]) : tensor<32x64xf16>
// CHECK-NEXT:    %[[S:.*]] = opset1.Constant() {value = #moir.data<tensor<1x64xf16>, elided "{{.*}}">, name = "w_scale"} : tensor<1x64xf16>
// CHECK-NEXT:    %[[M:.*]] = opset1.Multiply(%[[N]], %[[S]]) : tensor<32x64xf16>
// CHECK-NEXT:    %[[W:.*]] = opset1.Convert(%[[M]]) {destination_type = f32, name = "w", tensor_names = ["weight"]} : tensor<32x64xf32>
// CHECK:         opset1.MatMul(%{{.*}}, %[[W]])
// SYM-LABEL:   moir.model @matrix
// SYM:           %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<32x64xsi8>, elided "{{.*}}">, name = "w_compressed"} : tensor<32x64xsi8>
// SYM-NEXT:      %[[D:.*]] = opset1.Convert(%[[C]]) {destination_type = f16} : tensor<32x64xf16>
// SYM-NEXT:      %[[S:.*]] = opset1.Constant() {{.*}} : tensor<1x64xf16>
// SYM-NEXT:      opset1.Multiply(%[[D]], %[[S]]) : tensor<32x64xf16>
builtin.module {
  moir.model @matrix {
    %x = opset1.Parameter() {name = "x"} : tensor<?x32xf32>
    %w_row = opset1.Constant() {value = #moir.data<tensor<32x1xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<32x1xf32>
    %w_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [32, 64]>} : tensor<2xsi64>
    %w = opset3.Broadcast(%w_row, %w_shape) {name = "w", tensor_names = ["weight"]} : tensor<32x64xf32>
    %y = opset1.MatMul(%x, %w) : tensor<?x64xf32>
    opset1.Result(%y) {name = "y"}
  }

  // The last matrix keeps 8 bits, the others get 4 in groups of 16 along the dimension that is summed over.
  // FOUR-LABEL: moir.model @chain
  // FOUR:         opset1.Constant() {value = #moir.data<tensor<64x2x16xui4>, elided "{{.*}}">, name = "a_compressed"} : tensor<64x2x16xui4>
  // FOUR:         opset1.Constant() {value = #moir.data<tensor<64x2x1xui4>, {{.*}}>, name = "a_zero_point"} : tensor<64x2x1xui4>
  // FOUR:         opset1.Constant() {value = #moir.data<tensor<64x2x1xf16>, {{.*}}>, name = "a_scale"} : tensor<64x2x1xf16>
  // FOUR:         %[[M:.*]] = opset1.Multiply({{.*}}) : tensor<64x2x16xf16>
  // FOUR:         %[[I:.*]] = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [64, 32]>} : tensor<2xsi64>
  // FOUR-NEXT:    %[[R:.*]] = opset1.Reshape(%[[M]], %[[I]]) {special_zero = false} : tensor<64x32xf16>
  // FOUR-NEXT:    %[[W:.*]] = opset1.Convert(%[[R]]) {destination_type = f32, name = "a"} : tensor<64x32xf32>
  // FOUR:         opset1.Constant() {value = #moir.data<tensor<64x32xui8>, {{.*}}>, name = "b_compressed"} : tensor<64x32xui8>
  // FOUR:         opset1.MatMul(%{{.*}}, %[[W]]) {transpose_b = true}
  moir.model @chain {
    %x = opset1.Parameter() {name = "x"} : tensor<?x32xf32>
    %a_row = opset1.Constant() {value = #moir.data<tensor<1x32xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<1x32xf32>
    %a_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [64, 32]>} : tensor<2xsi64>
    %a = opset3.Broadcast(%a_row, %a_shape) {name = "a"} : tensor<64x32xf32>
    %b_row = opset1.Constant() {value = #moir.data<tensor<1x32xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<1x32xf32>
    %b_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [64, 32]>} : tensor<2xsi64>
    %b = opset3.Broadcast(%b_row, %b_shape) {name = "b"} : tensor<64x32xf32>
    %0 = opset1.MatMul(%x, %a) {transpose_b = true} : tensor<?x64xf32>
    %1 = opset1.MatMul(%0, %b) : tensor<?x32xf32>
    opset1.Result(%1) {name = "y"}
  }

  // A table has a scale for each row. Used by a matrix product, too, it is restored once.
  // CHECK-LABEL: moir.model @table
  // CHECK:         opset1.Constant() {{.*}} : tensor<64x32xui8>
  // CHECK:         %[[T:.*]] = opset1.Convert(%{{.*}}) {destination_type = f32, name = "t"} : tensor<64x32xf32>
  // CHECK:         opset8.Gather(%[[T]],
  // CHECK:         opset1.MatMul(%{{.*}}, %[[T]]) {transpose_b = true}
  moir.model @table {
    %i = opset1.Parameter() {name = "i"} : tensor<?xsi64>
    %t_row = opset1.Constant() {value = #moir.data<tensor<1x32xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<1x32xf32>
    %t_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [64, 32]>} : tensor<2xsi64>
    %t = opset3.Broadcast(%t_row, %t_shape) {name = "t"} : tensor<64x32xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %0 = opset8.Gather(%t, %i, %axis) : tensor<?x32xf32>
    %1 = opset1.MatMul(%0, %t) {transpose_b = true} : tensor<?x64xf32>
    opset1.Result(%1) {name = "y"}
  }

  // Left alone: a left operand, a matrix that is added as well, matrices in a batch, a vector on the left.
  // CHECK-LABEL: moir.model @others
  // CHECK-NOT:     ui8
  // FOUR-LABEL:  moir.model @others
  // FOUR-NOT:      ui4
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<32x64xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<32xf32>
    %w_row = opset1.Constant() {value = #moir.data<tensor<1x32xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<1x32xf32>
    %w_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [64, 32]>} : tensor<2xsi64>
    %w = opset3.Broadcast(%w_row, %w_shape) {name = "left"} : tensor<64x32xf32>
    %0 = opset1.MatMul(%w, %x) {name = "0"} : tensor<64x64xf32>
    opset1.Result(%0) {name = "y0"}
    %a_row = opset1.Constant() {value = #moir.data<tensor<32x1xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<32x1xf32>
    %a_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [32, 64]>} : tensor<2xsi64>
    %a = opset3.Broadcast(%a_row, %a_shape) {name = "added"} : tensor<32x64xf32>
    %1 = opset1.Add(%x, %a) : tensor<32x64xf32>
    %2 = opset1.MatMul(%1, %a) {transpose_b = true} : tensor<32x32xf32>
    opset1.Result(%2) {name = "y1"}
    %b_row = opset1.Constant() {value = #moir.data<tensor<1x1x16xf32>, [-8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]>} : tensor<1x1x16xf32>
    %b_shape = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 64, 16]>} : tensor<3xsi64>
    %b = opset3.Broadcast(%b_row, %b_shape) {name = "batch"} : tensor<2x64x16xf32>
    %3 = opset1.MatMul(%x, %b) : tensor<2x32x16xf32>
    opset1.Result(%3) {name = "y2"}
    %c_row = opset1.Constant() {value = #moir.data<tensor<32x1xf32>, [-16.0, -15.0, -14.0, -13.0, -12.0, -11.0, -10.0, -9.0, -8.0, -7.0, -6.0, -5.0, -4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>} : tensor<32x1xf32>
    %c_shape = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [32, 64]>} : tensor<2xsi64>
    %c = opset3.Broadcast(%c_row, %c_shape) {name = "vector"} : tensor<32x64xf32>
    %4 = opset1.MatMul(%v, %c) : tensor<64xf32>
    opset1.Result(%4) {name = "y3"}
  }
}
