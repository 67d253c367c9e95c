// RUN: moir-opt %s -p separate-moved-products --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @unsqueezed
// CHECK:           %[[S:.*]] = opset1.Maximum({{.*}}, %p)
// CHECK-NEXT:      opset1.Reshape(%[[S]], %to)
builtin.module {
  moir.model @unsqueezed {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>} : tensor<1x2xf32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) : tensor<?x3x2xf32>
    %to = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 2, 1]>} : tensor<4xsi64>
    %y = opset1.Reshape(%p, %to) {special_zero = true} : tensor<?x3x2x1xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Dimensions elsewhere, and another shape of the columns: the scales move with them. Several factors are merged.
// CHECK-LABEL: moir.model @moved
// CHECK:           opset1.Reshape(%p, %front)
// CHECK:           opset1.Reshape(%p, %split)
// CHECK:           %[[S:.*]] = opset1.Maximum({{.*}}, %f)
// CHECK-NEXT:      opset1.Unsqueeze(%[[S]], %last)
builtin.module {
  moir.model @moved {
    %x = opset1.Parameter() {name = "x"} : tensor<4x3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<4x3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2xf32>, [1.0, 2.0]>} : tensor<1x2xf32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) : tensor<4x3x2xf32>
    %front = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [4, 3, 1, 2]>} : tensor<4xsi64>
    %a = opset1.Reshape(%p, %front) {special_zero = false} : tensor<4x3x1x2xf32>
    %split = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [4, 6, 1]>} : tensor<3xsi64>
    %b = opset1.Reshape(%p, %split) {special_zero = false} : tensor<4x6x1xf32>
    %f = opset1.Multiply(%p, %low) : tensor<4x3x2xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %d = opset1.Unsqueeze(%f, %last) : tensor<4x3x2x1xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
    opset1.Result(%d) {name = "d"}
  }
}

// -----

// CHECK-LABEL: moir.model @gathered
// CHECK:           %[[S:.*]] = opset1.Maximum({{.*}}, %p)
// CHECK-NEXT:      opset8.Gather(%[[S]], %i, %zero)
builtin.module {
  moir.model @gathered {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-100.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) {transpose_b = true} : tensor<3x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %y = opset8.Gather(%p, %i, %zero) : tensor<1x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// One index; no zero point; scales for each column.
// CHECK-LABEL: moir.model @one_index
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @one_index {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-100.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) {transpose_b = true} : tensor<3x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %y = opset8.Gather(%p, %i, %zero) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @no_zero_point
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @no_zero_point {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-128.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) {transpose_b = true} : tensor<3x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %y = opset8.Gather(%p, %i, %zero) : tensor<1x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @columns
// CHECK-NOT:       opset1.Maximum
builtin.module {
  moir.model @columns {
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-100.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [127.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<3x2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x2xsi8>, [1, 2, 3, 4]>} : tensor<2x2xsi8>
    %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [2.0, 3.0]>} : tensor<2x1xf32>
    %v = opset1.Multiply(%c, %s) : tensor<2x2xf32>
    %p = opset1.MatMul(%q, %v) {transpose_b = true} : tensor<3x2xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %y = opset8.Gather(%p, %i, %zero) : tensor<1x2xf32>
    opset1.Result(%y) {name = "y"}
  }
}
