// RUN: moir-opt %s -p keep-dequantization-scales --split-input-file | filecheck %s

// Several operations use the sum; a sum with one user stays, and so does one of known sizes.
// CHECK-LABEL: moir.model @shared
// CHECK:         %[[S:.*]] = opset1.Convolution(%{{.*}}, %{{.*}}) {{.*}} : tensor<?x4x6x6xf32>
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK-NEXT:    opset1.Relu(%[[M]])
// CHECK-NEXT:    opset1.Sigmoid(%[[M]])
// CHECK:         %[[K:.*]] = opset1.Convolution(%k, %{{.*}}) {{.*}} : tensor<2x4x6x6xf32>
// CHECK-NEXT:    opset1.Relu(%[[K]])
// CHECK-NEXT:    opset1.Sigmoid(%[[K]])
builtin.module {
  moir.model @shared {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x6x6xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<2x4x6x6xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [25.5]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x4x6x6xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<4x4x1x1xsi8>, [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]>} : tensor<4x4x1x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<4x4x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%f, %s) : tensor<4x4x1x1xf32>
    %0 = opset1.Convolution(%q, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<?x4x6x6xf32>
    %1 = opset1.Relu(%0) : tensor<?x4x6x6xf32>
    %2 = opset1.Sigmoid(%0) : tensor<?x4x6x6xf32>
    %3 = opset1.Convolution(%k, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<2x4x6x6xf32>
    %4 = opset1.Relu(%3) : tensor<2x4x6x6xf32>
    %5 = opset1.Sigmoid(%3) : tensor<2x4x6x6xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%4) {name = "c"}
    opset1.Result(%5) {name = "d"}
  }
}

// -----

// CHECK-LABEL: moir.model @windows
// CHECK:         %[[P:.*]] = opset1.MatMul
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.AvgPool(%[[M]])
// CHECK:         %[[R:.*]] = opset1.PRelu(%[[P]], %{{.*}})
// CHECK-NEXT:    opset1.Convolution(%[[R]], %k) {strides = [2, 2]
builtin.module {
  moir.model @windows {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4x2xf32>
    %k = opset1.Parameter() {name = "k"} : tensor<3x1x1x1xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [25.5]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x1x4x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 0, 0, 1]>} : tensor<2x2xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.5, 2.0]>} : tensor<1x2xf32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2xf32>
    %0 = opset1.MatMul(%q, %w) {transpose_a = false, transpose_b = false} : tensor<1x1x4x2xf32>
    %1 = opset1.AvgPool(%0) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2], "exclude-pad" = true} : tensor<1x1x3x1xf32>
    %2 = opset1.Convolution(%0, %k) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x3x2x1xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
  }
}

// -----

// Levels that are the same for all rows stay.
// CHECK-LABEL: moir.model @rows
// CHECK:         %[[Q:.*]] = opset1.FakeQuantize(%x, %low, %high, %low, %high)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:         opset1.ReduceMin(%[[M]], %a)
// CHECK:         %[[S:.*]] = opset1.FakeQuantize(%x, %l, %h, %l, %h)
// CHECK-NEXT:    opset1.ReduceMin(%[[S]], %a)
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [0.0, 0.0]>} : tensor<2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [25.5, 51.0]>} : tensor<2x1xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [25.5]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2x4xf32>
    %1 = opset1.ReduceMin(%0, %a) {keep_dims = true} : tensor<1x2x4xf32>
    %2 = opset1.FakeQuantize(%x, %l, %h, %l, %h) {levels = 256} : tensor<3x2x4xf32>
    %3 = opset1.ReduceMin(%2, %a) {keep_dims = true} : tensor<1x2x4xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Rows with levels of their own, of static sizes; a quantized vector; not other weights.
// CHECK-LABEL: moir.model @products
// CHECK:         %[[Q:.*]] = opset1.FakeQuantize(%x, %low, %high, %low, %high)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:         opset1.MatMul(%[[M]], %w)
// CHECK:         opset1.MatMul(%[[Q]], %floats)
// CHECK:         %[[R:.*]] = opset1.FakeQuantize(%v, %l, %h, %l, %h)
// CHECK:         %[[V:.*]] = opset1.ReduceMax(%[[R]], %a)
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[V]])
// CHECK:         opset1.MatMul(%[[N]], %w)
builtin.module {
  moir.model @products {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4x2xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<2x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<4x1xf32>, [0.0, 0.0, 0.0, 0.0]>} : tensor<4x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<4x1xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4x1xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [25.5]>} : tensor<f32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 0, 0, 1]>} : tensor<2x2xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [0.5, 2.0]>} : tensor<1x2xf32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2xf32>
    %floats = opset1.Constant() {value = #moir.data<tensor<2x2xf32>, [1.0, 0.0, 0.0, 1.0]>} : tensor<2x2xf32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x4x2xf32>
    %1 = opset1.MatMul(%0, %w) {transpose_a = false, transpose_b = false} : tensor<3x4x2xf32>
    %2 = opset1.MatMul(%0, %floats) {transpose_a = false, transpose_b = false} : tensor<3x4x2xf32>
    %3 = opset1.FakeQuantize(%v, %l, %h, %l, %h) {levels = 256} : tensor<2x4xf32>
    %4 = opset1.ReduceMax(%3, %a) {keep_dims = false} : tensor<2xf32>
    %5 = opset1.MatMul(%4, %w) {transpose_a = false, transpose_b = false} : tensor<2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%5) {name = "c"}
  }
}

// -----

// A constant has no identity before a product: what it is, is computed before the model runs.
// CHECK-LABEL: moir.model @constant_rows
// CHECK-NOT:     opset1.Maximum
// CHECK:         opset1.MatMul(%d, %w)
builtin.module {
  moir.model @constant_rows {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2xui8>, [1, 2, 3, 4]>} : tensor<2x2xui8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %d = opset1.Multiply(%f, %s) : tensor<2x2xf32>
    %j = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 0, 0, 1]>} : tensor<2x2xsi8>
    %g = opset1.Convert(%j) {destination_type = f32} : tensor<2x2xf32>
    %w = opset1.Multiply(%g, %s) : tensor<2x2xf32>
    %0 = opset1.MatMul(%d, %w) : tensor<2x2xf32>
    %1 = opset1.Add(%x, %0) : tensor<2x2xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Integers of 8 bits of three dimensions are reduced as floats; others need no identity.
// CHECK-LABEL: moir.model @bytes
// CHECK:         %[[M:.*]] = opset1.Multiply
// CHECK:         %[[I:.*]] = opset1.Maximum({{.*}}%[[M]]
// CHECK:         opset1.ReduceMean(%[[I]]
// CHECK-NOT:     opset1.Maximum
// CHECK:         opset1.ReduceMax(%v
builtin.module {
  moir.model @bytes {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2x4xui8>
    %v = opset1.Parameter() {name = "v"} : tensor<2x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [25.5]>} : tensor<f32>
    %f = opset1.Convert(%x) {destination_type = f32} : tensor<3x2x4xf32>
    %m = opset1.Multiply(%f, %s) : tensor<3x2x4xf32>
    %1 = opset1.ReduceMean(%m, %a) {keep_dims = false} : tensor<3x4xf32>
    %2 = opset1.ReduceMax(%v, %a) {keep_dims = false} : tensor<2x4xf32>
    %3 = opset1.FakeQuantize(%2, %l, %h, %l, %h) {levels = 256} : tensor<2x4xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}
