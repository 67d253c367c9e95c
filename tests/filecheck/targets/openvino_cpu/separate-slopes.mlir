// RUN: moir-opt %s -p separate-slopes --split-input-file | filecheck %s

// One slope for all elements stays.
// CHECK-LABEL: moir.model @slopes
// CHECK:         %[[P:.*]] = opset1.MatMul
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.PRelu(%[[M]], %slopes)
// CHECK:         opset1.PRelu(%[[P]], %one)
// CHECK:         %[[R:.*]] = opset1.ReduceSum
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[R]])
// CHECK-NEXT:    opset1.PRelu(%[[N]], %rows)
builtin.module {
  moir.model @slopes {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x4xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2x3x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x5xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %slopes = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 3.0]>} : tensor<2x1x1xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [2.0, 3.0, 4.0]>} : tensor<3x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<1xf32>, [2.0]>} : tensor<1xf32>
    %0 = opset1.MatMul(%x, %w) {transpose_a = false, transpose_b = false} : tensor<1x2x3x5xf32>
    %1 = opset1.PRelu(%0, %slopes) : tensor<1x2x3x5xf32>
    %2 = opset1.PRelu(%0, %one) : tensor<1x2x3x5xf32>
    %3 = opset1.ReduceSum(%v, %a) {keep_dims = true} : tensor<2x3x1xf32>
    %4 = opset1.PRelu(%3, %rows) : tensor<2x3x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%4) {name = "c"}
  }
}

// -----

// CHECK-LABEL: moir.model @channels
// CHECK:         %[[P:.*]] = opset1.MatMul
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.Add(%[[M]], %channels)
// CHECK:         opset1.Add(%[[P]], %columns)
builtin.module {
  moir.model @channels {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x2xf32>
    %channels = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 3.0]>} : tensor<2x1x1xf32>
    %columns = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 3.0]>} : tensor<2xf32>
    %0 = opset1.MatMul(%x, %w) {transpose_a = false, transpose_b = false} : tensor<1x2x3x2xf32>
    %1 = opset1.Add(%0, %channels) : tensor<1x2x3x2xf32>
    %2 = opset1.Add(%0, %columns) : tensor<1x2x3x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Declines: products of batches of matrices, and of three dimensions.

// CHECK-LABEL: moir.model @batches
// CHECK-NOT:     opset1.Maximum
builtin.module {
  moir.model @batches {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x2x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<1x2x4x2xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<4x2xf32>
    %channels = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 3.0]>} : tensor<2x1x1xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [2.0, 3.0]>} : tensor<2x1xf32>
    %0 = opset1.MatMul(%x, %w) {transpose_a = false, transpose_b = false} : tensor<1x2x3x2xf32>
    %1 = opset1.Add(%0, %channels) : tensor<1x2x3x2xf32>
    %2 = opset1.MatMul(%z, %v) {transpose_a = false, transpose_b = false} : tensor<1x2x2xf32>
    %3 = opset1.Add(%2, %rows) : tensor<1x2x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}
