// RUN: moir-opt %s -p separate-fake-quantize --split-input-file | filecheck %s

// Levels of maxima, also after an elementwise operation.
// CHECK-LABEL: moir.model @extremes
// CHECK:         %[[A:.*]] = opset1.Abs
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%[[A]], %{{.*}}) : tensor<1x2x4x1x1xf32>
// CHECK:         %[[F:.*]] = opset1.FakeQuantize(%[[U]], %low, %high, %low, %high) {levels = 256} : tensor<1x2x4x1x1xf32>
// CHECK:         opset15.Squeeze(%[[F]], %{{.*}}) {name = "f"} : tensor<2x4x1x1xf32>
builtin.module {
  moir.model @extremes {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4x5x5xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.984375]>} : tensor<f32>
    %0 = opset1.ReduceMax(%x, %axes) {keep_dims = true} : tensor<2x4x1x1xf32>
    %1 = opset1.Abs(%0) : tensor<2x4x1x1xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256, name = "f"} : tensor<2x4x1x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// What is rounded in one dimension more stays; means are rounded correctly.
// CHECK-LABEL: moir.model @apart
// CHECK-COUNT-1: opset1.Unsqueeze
// CHECK-NOT:     opset1.Unsqueeze
builtin.module {
  moir.model @apart {
    %x = opset1.Parameter() {name = "x"} : tensor<2x4xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %first = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.984375]>} : tensor<f32>
    %0 = opset1.ReduceMin(%x, %last) {keep_dims = true} : tensor<2x1xf32>
    %1 = opset1.Unsqueeze(%0, %first) : tensor<1x2x1xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<1x2x1xf32>
    %3 = opset15.Squeeze(%2, %first) : tensor<2x1xf32>
    %4 = opset1.ReduceMean(%x, %last) {keep_dims = true} : tensor<2x1xf32>
    %5 = opset1.FakeQuantize(%4, %low, %high, %low, %high) {levels = 256} : tensor<2x1xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%5) {name = "z"}
  }
}

// -----

// Levels along the second axis of a product of matrices; those of a list of matrices stay.
// CHECK-LABEL: moir.model @products
// CHECK:         %[[P:.*]] = opset1.MatMul
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]]) : tensor<1x2x3x3xf32>
// CHECK:         opset1.FakeQuantize(%[[M]], %low, %high, %low, %high) {levels = 256, name = "f"}
// CHECK-NOT:     opset1.Maximum
builtin.module {
  moir.model @products {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x3xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<3x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [-2.0, -1.0]>} : tensor<1x2x1x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [2.0, 1.0]>} : tensor<1x2x1x1xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<3xf32>, [-2.0, -1.0, -3.0]>} : tensor<3xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<3xf32>, [2.0, 1.0, 3.0]>} : tensor<3xf32>
    %0 = opset1.MatMul(%x, %x) : tensor<1x2x3x3xf32>
    %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high) {levels = 256, name = "f"} : tensor<1x2x3x3xf32>
    %2 = opset1.MatMul(%w, %w) : tensor<3x3xf32>
    %3 = opset1.FakeQuantize(%2, %a, %b, %a, %b) {levels = 256} : tensor<3x3xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Conversions that are rounded to levels after an elementwise operation; others stay.
// CHECK-LABEL: moir.model @truncated
// CHECK:         %[[B:.*]] = opset1.Convert(%x) {destination_type = si8}
// CHECK:         %[[W:.*]] = opset1.Convert(%[[B]]) {destination_type = si32}
// CHECK:         opset1.Convert(%[[W]]) {destination_type = f32, name = "c"}
// CHECK-NOT:     destination_type = si32
builtin.module {
  moir.model @truncated {
    %x = opset1.Parameter() {name = "x"} : tensor<3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.984375]>} : tensor<f32>
    %0 = opset1.Convert(%x) {destination_type = si8} : tensor<3xsi8>
    %1 = opset1.Convert(%0) {destination_type = f32, name = "c"} : tensor<3xf32>
    %2 = opset1.Add(%1, %high) : tensor<3xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<3xf32>
    %4 = opset1.Convert(%0) {destination_type = f32} : tensor<3xf32>
    %5 = opset1.Relu(%4) : tensor<3xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%5) {name = "z"}
  }
}

// -----

// Positive factors stay.
// CHECK-LABEL: moir.model @signs
// CHECK:         %[[X:.*]] = opset1.Multiply(%x, %signs)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[X]])
// CHECK-NEXT:    opset1.FakeQuantize(%[[M]],
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %positive)
// CHECK-NEXT:    opset1.FakeQuantize(%[[P]],
builtin.module {
  moir.model @signs {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %signs = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, -1.0]>} : tensor<2xf32>
    %positive = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>} : tensor<2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-4.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [251.0]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %signs) : tensor<?x2xf32>
    %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high) {levels = 256} : tensor<?x2xf32>
    %2 = opset1.Multiply(%x, %positive) : tensor<?x2xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<?x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}

// -----

// Of data with single elements, neither axis separates the two: an identity after the rounding does.
// CHECK-LABEL: moir.model @single_elements
// CHECK:         %[[F:.*]] = opset1.FakeQuantize(%{{.*}}) {levels = 256} : tensor<1x1xf32>
// CHECK:         opset1.Maximum(%{{.*}}, %[[F]]) {name = "f"} : tensor<1x1xf32>
// A FakeQuantize would be moved before the Concat.
// CHECK:         %[[C:.*]] = opset1.Concat
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[C]])
// CHECK:         opset1.FakeQuantize(%[[M]], {{.*}}) {levels = 256, name = "g"}
builtin.module {
  moir.model @single_elements {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x16xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.984375]>} : tensor<f32>
    %0 = opset1.ReduceMax(%x, %last) {keep_dims = false} : tensor<1x1xf32>
    %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high) {levels = 256, name = "f"} : tensor<1x1xf32>
    %2 = opset1.ReduceMax(%x, %last) {keep_dims = true} : tensor<1x1x1xf32>
    %3 = opset1.Concat(%x, %2) {axis = 2} : tensor<1x1x17xf32>
    %4 = opset1.FakeQuantize(%3, %low, %high, %low, %high) {levels = 256, name = "g"} : tensor<1x1x17xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}
