// RUN: moir-opt %s -p separate-limits --split-input-file | filecheck %s

// Of unknown sizes: after a Transpose, and after other levels with several limits; an elementwise operation stays.
// CHECK-LABEL: moir.model @unknown
// CHECK:         %[[T:.*]] = opset1.Transpose
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[T]])
// CHECK:         %[[F:.*]] = opset1.FakeQuantize(%[[M]], %low, %high, %low, %high)
// CHECK:         %[[R:.*]] = opset1.Relu(%[[F]])
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[R]])
// CHECK:         opset1.FakeQuantize(%[[N]], %one, %two, %one, %two)
// CHECK:         opset1.FakeQuantize(%x, %low, %high, %low, %high)
builtin.module {
  moir.model @unknown {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x2xf32>
    %o = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [-1.0, -2.0]>} : tensor<2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %two = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %0 = opset1.Transpose(%x, %o) : tensor<?x2x?xf32>
    %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high) {levels = 255} : tensor<?x2x?xf32>
    %2 = opset1.Relu(%1) : tensor<?x2x?xf32>
    %3 = opset1.FakeQuantize(%2, %one, %two, %one, %two) {levels = 256} : tensor<?x2x?xf32>
    %4 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 255} : tensor<?x?x2xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// Along what was the third axis; along the channels, or of an elementwise operation, it stays.
// CHECK-LABEL: moir.model @behind_transpose
// CHECK:         %[[T:.*]] = opset1.Transpose(%0, %order)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[T]])
// CHECK:         opset1.FakeQuantize(%[[M]], %rows, %{{.*}}, %rows, %{{.*}})
// CHECK:         opset1.FakeQuantize(%[[T]], %channels, %{{.*}}, %channels, %{{.*}})
// CHECK:         %[[S:.*]] = opset1.Transpose(%{{.*}}, %order)
// CHECK:         opset1.FakeQuantize(%[[S]], %rows, %{{.*}}, %rows, %{{.*}})
builtin.module {
  moir.model @behind_transpose {
    %x = opset1.Parameter() {name = "x"} : tensor<1x3x2x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %rows = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [-1.0, -2.0]>} : tensor<1x2x1x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, 2.0]>} : tensor<1x2x1x1xf32>
    %channels = opset1.Constant() {value = #moir.data<tensor<3xf32>, [-1.0, -2.0, -3.0]>} : tensor<3xf32>
    %top = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %0 = opset6.MVN(%x, %a) {normalize_variance = true, eps = 1.0e-05, eps_mode = "INSIDE_SQRT"} : tensor<1x3x2x4xf32>
    %1 = opset1.Transpose(%0, %order) : tensor<1x2x4x3xf32>
    %2 = opset1.FakeQuantize(%1, %rows, %high, %rows, %high) {levels = 256} : tensor<1x2x4x3xf32>
    %3 = opset1.FakeQuantize(%1, %channels, %top, %channels, %top) {levels = 256} : tensor<1x2x4x3xf32>
    %4 = opset1.Sigmoid(%x) : tensor<1x3x2x4xf32>
    %5 = opset1.Transpose(%4, %order) : tensor<1x2x4x3xf32>
    %6 = opset1.FakeQuantize(%5, %rows, %high, %rows, %high) {levels = 256} : tensor<1x2x4x3xf32>
    opset1.Result(%2) {name = "p"}
    opset1.Result(%3) {name = "q"}
    opset1.Result(%6) {name = "r"}
  }
}

// -----

// The runtime would make one Clamp of the Minimum and a Maximum, and move quantization through it.

// CHECK-LABEL: moir.model @beside_minimum
// CHECK:           %[[M:.*]] = opset1.Minimum(
// CHECK:           %[[INFINITY:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0x7F800000]>}
// CHECK:           %[[SAME:.*]] = opset1.Minimum(%[[INFINITY]], %[[M]])
// CHECK:           opset1.FakeQuantize(%[[SAME]]
builtin.module {
  moir.model @beside_minimum {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?x?xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [-1.28, -2.56]>} : tensor<1x2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [1.27, 2.54]>} : tensor<1x2x1xf32>
    %limit = opset1.Constant() {value = #moir.data<tensor<f32>, [0.7]>} : tensor<f32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [-7.68]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [7.62]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x?x?xf32>
    %2 = opset1.Minimum(%1, %limit) : tensor<?x?x?xf32>
    %3 = opset1.FakeQuantize(%2, %a, %b, %a, %b) {levels = 256} : tensor<?x?x?xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// The plugin moves both FakeQuantize before the Transpose.

// CHECK-LABEL: moir.model @quantized_behind_transpose
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize(%{{.*}}, %a, %b, %a, %b)
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset1.FakeQuantize(%[[SAME]], %low, %high, %low, %high)
builtin.module {
  moir.model @quantized_behind_transpose {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x2x4xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [-1.28, -2.56]>} : tensor<1x2x1x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.27, 2.54]>} : tensor<1x2x1x1xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [-7.68]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [7.62]>} : tensor<f32>
    %1 = opset1.Transpose(%x, %order) : tensor<?x2x4x3xf32>
    %2 = opset1.FakeQuantize(%1, %a, %b, %a, %b) {levels = 256} : tensor<?x2x4x3xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256} : tensor<?x2x4x3xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Equal limits become one number first; the FakeQuantize before has several.
// RUN: moir-opt %s -p fit-fake-quantize-limits,separate-limits --split-input-file | filecheck %s --check-prefix BOTH
// BOTH-LABEL: moir.model @equal
// BOTH:            %[[SAME:.*]] = opset1.Maximum
// BOTH:            opset1.FakeQuantize(%[[SAME]]
builtin.module {
  moir.model @equal {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x?xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [-1.0, -2.0]>} : tensor<2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [-1.0, -1.0]>} : tensor<2x1xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 1.0]>} : tensor<2x1xf32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x2x?xf32>
    %2 = opset1.FakeQuantize(%1, %first, %last, %first, %last) {levels = 256} : tensor<?x2x?xf32>
    opset1.Result(%2) {name = "y"}
  }
}
