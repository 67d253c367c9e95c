// RUN: moir-opt %s -p fit-fake-quantize-limits --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @equal
// CHECK:         %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
// CHECK:         opset1.FakeQuantize(%x, %[[A]], %{{.*}}, %{{.*}}, %{{.*}}) {levels = 256, name = "f"}
// CHECK:         opset1.FakeQuantize(%x, %low, %high, %low, %other) {levels = 256, name = "g"}
builtin.module {
  moir.model @equal {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [-1.0, -1.0]>} : tensor<2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 1.0]>} : tensor<2x1xf32>
    %other = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256, name = "f"} : tensor<2x3xf32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %other) {levels = 256, name = "g"} : tensor<2x3xf32>
    opset1.Result(%0) {name = "y"}
    opset1.Result(%1) {name = "z"}
  }
}

// -----

// After an activation; a normalization of anything else stays.
// CHECK-LABEL: moir.model @normalized
// CHECK:         %[[R:.*]] = opset1.Relu
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[R]])
// CHECK:         opset6.MVN(%[[M]], %a)
// CHECK:         opset6.MVN(%x, %a)
builtin.module {
  moir.model @normalized {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 255} : tensor<2x3xf32>
    %1 = opset1.Relu(%0) : tensor<2x3xf32>
    %2 = opset6.MVN(%1, %a) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x3xf32>
    %3 = opset6.MVN(%x, %a) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x3xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// 256 levels from -1 to 1 have none for 0, 255 have one.
// CHECK-LABEL: moir.model @zero
// CHECK:         %[[F:.*]] = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256}
// CHECK:         %[[G:.*]] = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 255}
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[F]])
// CHECK:         opset1.Convolution(%[[M]], %{{.*}})
// CHECK:         opset1.Convolution(%[[G]], %{{.*}})
builtin.module {
  moir.model @zero {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x3x3xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xsi8>, [3]>} : tensor<1x1x1x1xsi8>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.Convert(%w) {destination_type = f32} : tensor<1x1x1x1xf32>
    %1 = opset1.Multiply(%0, %s) : tensor<1x1x1x1xf32>
    %2 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x1x3x3xf32>
    %3 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 255} : tensor<1x1x3x3xf32>
    %4 = opset1.Convolution(%2, %1) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x3x3xf32>
    %5 = opset1.Convolution(%3, %1) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x3x3xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%5) {name = "z"}
  }
}

// -----

// CHECK-LABEL: moir.model @shapes
// CHECK:         %[[L:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [0.0, 0.0]>} : tensor<2x1xf32>
// CHECK:         %[[H:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
// CHECK:         opset1.FakeQuantize(%x, %[[L]], %[[H]], %low, %low) {levels = 256, name = "f"}
builtin.module {
  moir.model @shapes {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %low) {levels = 256, name = "f"} : tensor<2x3xf32>
    opset1.Result(%0) {name = "y"}
  }
}

// -----

// The sum moves the zero point between two integers.

// CHECK-LABEL: moir.model @moved_zero_point
// CHECK:           %[[S:.*]] = opset1.Add(
// CHECK:           %[[SAME:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK:           opset1.Convolution(%[[SAME]]
// CHECK:           %[[T:.*]] = opset1.Add(
// CHECK:           opset1.Convolution(%[[T]]
builtin.module {
  moir.model @moved_zero_point {
    %x = opset1.Parameter() {name = "x"} : tensor<1x1x4x4xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %half = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [0.03125]>} : tensor<1x1x1x1xf32>
    %step = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf32>, [0.0625]>} : tensor<1x1x1x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xsi8>, [64]>} : tensor<1x1x1x1xsi8>
    %f = opset1.Constant() {value = #moir.data<tensor<f32>, [0.015625]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x1x4x4xf32>
    %1 = opset1.Convert(%w) {destination_type = f32} : tensor<1x1x1x1xf32>
    %2 = opset1.Multiply(%1, %f) : tensor<1x1x1x1xf32>
    %3 = opset1.Add(%0, %half) : tensor<1x1x4x4xf32>
    %4 = opset1.Convolution(%3, %2) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x4x4xf32>
    %5 = opset1.Add(%0, %step) : tensor<1x1x4x4xf32>
    %6 = opset1.Convolution(%5, %2) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1]} : tensor<1x1x4x4xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%6) {name = "z"}
  }
}

// -----

// A sum with a product with a constant, in a model that has a FakeQuantize.
// CHECK-LABEL: moir.model @normalized_products
// CHECK:         %[[S:.*]] = opset1.Add(%x, %{{.*}})
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK-NEXT:    opset6.MVN(%[[M]], %axis)
// CHECK:         opset6.MVN(%x, %axis)
builtin.module {
  moir.model @normalized_products {
    %x = opset1.Parameter() {name = "x"} : tensor<2x8xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %high) : tensor<2x8xf32>
    %1 = opset1.Add(%x, %0) : tensor<2x8xf32>
    %2 = opset6.MVN(%1, %axis) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x8xf32>
    %3 = opset6.MVN(%x, %axis) {normalize_variance = true, eps = 0.001, eps_mode = "INSIDE_SQRT"} : tensor<2x8xf32>
    %4 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x8xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%4) {name = "c"}
  }
}

// -----

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
// CHECK-LABEL: moir.model @equal
// CHECK:            %[[SAME:.*]] = opset1.Maximum
// CHECK:            opset1.FakeQuantize(%[[SAME]]
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
