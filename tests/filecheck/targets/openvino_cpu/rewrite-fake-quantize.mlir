// RUN: moir-opt %s -p rewrite-fake-quantize --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @limited
// CHECK:           %[[S:.*]] = opset1.Add(%x, %c)
// CHECK:           %[[M:.*]] = opset1.Maximum(%[[S]], %low)
// CHECK:           opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
builtin.module {
  moir.model @limited {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Add(%x, %c) : tensor<?x3xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<?x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Of known sizes, along another axis, and of products the plugin takes all constants.

// CHECK-LABEL: moir.model @known
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @known {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Add(%x, %c) : tensor<2x3xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @last
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @last {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Multiply(%x, %c) : tensor<?x?x3xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<?x?x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @product
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @product {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<?x3xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.MatMul(%x, %w) {transpose_a = false, transpose_b = false} : tensor<?x3xf32>
    %1 = opset1.Add(%0, %c) : tensor<?x3xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<?x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @converted
// CHECK:           %[[F:.*]] = opset1.Convert(%x)
// CHECK:           %[[S:.*]] = opset1.Multiply(%[[F]], %c)
// CHECK:           %[[M:.*]] = opset1.Maximum(%[[S]], %low)
// CHECK:           opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
// CHECK:           %[[B:.*]] = opset1.Convert(%bytes)
// CHECK:           opset1.FakeQuantize(%[[B]], %low, %high, %low, %high)
builtin.module {
  moir.model @converted {
    %x = opset1.Parameter() {name = "x"} : tensor<3xsi16>
    %bytes = opset1.Parameter() {name = "bytes"} : tensor<3xsi8>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.Convert(%x) {destination_type = f32} : tensor<3xf32>
    %2 = opset1.Multiply(%1, %c) : tensor<3xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<3xf32>
    %4 = opset1.Convert(%bytes) {destination_type = f32} : tensor<3xf32>
    %5 = opset1.FakeQuantize(%4, %low, %high, %low, %high) {levels = 256} : tensor<3xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%5) {name = "z"}
  }
}

// -----

// The Maximum keeps the scales of the last axis from being moved behind the second Reshape.
// CHECK-LABEL: moir.model @limits_along_third_axis
// CHECK:           %[[R:.*]] = opset1.Reshape(%x, %{{.*}}) {special_zero = false} : tensor<?x2xf32>
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize(%[[R]], %low, %high, %low, %high)
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset1.Reshape(%[[M]], %{{.*}}) {special_zero = false{{.*}}} : tensor<?x16x2xf32>
builtin.module {
  moir.model @limits_along_third_axis {
    %x = opset1.Parameter() {name = "x"} : tensor<?x16x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<2xf32>, [0.0, 0.0]>} : tensor<2xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 3.0]>} : tensor<2xf32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x16x2xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// Constants in f16, which the plugin computes in f32.
// CHECK-LABEL: moir.model @converted_sum
// CHECK:           %[[SUM:.*]] = opset1.Convert
// CHECK:           %[[LIMITED:.*]] = opset1.Maximum(%[[SUM]]
// CHECK-NEXT:      opset1.FakeQuantize(%[[LIMITED]]
builtin.module {
  moir.model @converted_sum {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf16>
    %c = opset1.Constant() {value = #moir.data<tensor<1x2xf16>, [1.0, 2.0]>} : tensor<1x2xf16>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.Add(%x, %c) : tensor<?x2xf16>
    %1 = opset1.Convert(%0) {destination_type = f32} : tensor<?x2xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}
