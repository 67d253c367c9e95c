// RUN: moir-opt %s -p separate-transposes --split-input-file | filecheck %s

// To channels last is what the plugin expects.
// CHECK-LABEL: moir.model @compressed
// CHECK:         %[[B:.*]] = opset1.Transpose(%x, %rows)
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[B]])
// CHECK-NEXT:    %[[C:.*]] = opset1.Convolution(%[[N]], %{{.*}})
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[C]])
// CHECK-NEXT:    opset1.Transpose(%[[M]], %rows)
// CHECK:         %[[D:.*]] = opset1.Convolution(%x, %{{.*}})
// CHECK-NEXT:    opset1.Transpose(%[[D]], %last)
builtin.module {
  moir.model @compressed {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x3xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %last = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2x1x1xf32>
    %t = opset1.Transpose(%x, %rows) : tensor<1x2x2x3xf32>
    %0 = opset1.Convolution(%t, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x3xf32>
    %1 = opset1.Transpose(%0, %rows) : tensor<1x2x2x3xf32>
    %2 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x3xf32>
    %3 = opset1.Transpose(%2, %last) : tensor<1x2x3x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
  }
}

// -----

// What a stride leaves out is lost, also behind a bias and before a Squeeze; what is used as it is, is not.
// CHECK-LABEL: moir.model @strided
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %{{.*}})
// CHECK-NEXT:    %[[C:.*]] = opset1.Convolution(%[[N]], %{{.*}})
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[C]])
// CHECK-NEXT:    %[[A:.*]] = opset1.Add(%[[M]], %bias)
// CHECK-NEXT:    opset1.Squeeze(%[[A]], %axis)
// CHECK:         %[[D:.*]] = opset1.Convolution(%x, %{{.*}})
// CHECK-NEXT:    opset1.Relu(%[[D]])
builtin.module {
  moir.model @strided {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x2xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %bias = opset1.Constant() {value = #moir.data<tensor<1x2x1x1xf32>, [1.0, 2.0]>} : tensor<1x2x1x1xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2x1x1xf32>
    %t = opset1.Transpose(%x, %first) : tensor<1x2x2x2xf32>
    %0 = opset1.Convolution(%t, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x1x1xf32>
    %1 = opset1.Add(%0, %bias) : tensor<1x2x1x1xf32>
    %2 = opset1.Squeeze(%1, %axis) : tensor<1x2x1xf32>
    %3 = opset1.Convolution(%x, %w) {strides = [2, 2], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x1x1xf32>
    %4 = opset1.Relu(%3) : tensor<1x2x1x1xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%4) {name = "b"}
  }
}

// -----

// The data are a result, too, with channels last: the convolution is computed as one, not as a product.
// CHECK-LABEL: moir.model @compressed_convolution_of_a_result
// CHECK:         %[[C:.*]] = opset1.Convolution(%x, %{{.*}})
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[C]])
// CHECK-NEXT:    opset1.Transpose(%[[M]], %last)
// CHECK:         %[[D:.*]] = opset1.Convolution(%r, %{{.*}})
// CHECK-NEXT:    opset1.Transpose(%[[D]], %last)
builtin.module {
  moir.model @compressed_convolution_of_a_result {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2x2xf32>
    %last = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 3, 1]>} : tensor<4xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2x1x1xf32>
    %t = opset1.Transpose(%x, %last) : tensor<1x2x2x2xf32>
    %v = opset1.Reshape(%t, %flat) {special_zero = false} : tensor<8xf32>
    %0 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x2xf32>
    %1 = opset1.Transpose(%0, %last) : tensor<1x2x2x2xf32>
    %r = opset1.Relu(%x) : tensor<1x2x2x2xf32>
    %u = opset1.Transpose(%r, %last) : tensor<1x2x2x2xf32>
    %2 = opset1.Sigmoid(%u) : tensor<1x2x2x2xf32>
    %3 = opset1.Convolution(%r, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x2xf32>
    %4 = opset1.Transpose(%3, %last) : tensor<1x2x2x2xf32>
    opset1.Result(%v) {name = "a"}
    opset1.Result(%1) {name = "b"}
    opset1.Result(%2) {name = "c"}
    opset1.Result(%4) {name = "d"}
  }
}

// -----

// CHECK-LABEL: moir.model @groups
// CHECK:         %[[T:.*]] = opset1.Transpose
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[T]])
// CHECK-NEXT:    opset1.Reshape(%[[M]], %back)
builtin.module {
  moir.model @groups {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x2xf32>
    %apart = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [3, -1, 2, 2]>} : tensor<4xsi64>
    %swap = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %back = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [3, 4, 2]>} : tensor<3xsi64>
    %0 = opset1.Reshape(%x, %apart) {special_zero = false} : tensor<3x?x2x2xf32>
    %1 = opset1.Transpose(%0, %swap) : tensor<3x2x?x2xf32>
    %2 = opset1.Reshape(%1, %back) {special_zero = false} : tensor<3x4x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// The runtime may not know that the first dimension is 1, if no Reshape says so any more. In a static model it does.
// CHECK-LABEL: moir.model @lost_batch
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %t)
// CHECK-NEXT:      opset1.Reshape(%[[M]], %flat)
// CHECK:           opset1.Reshape(%u, %flat)
builtin.module {
  moir.model @lost_batch {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8x3xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x8x3xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 8, 3]>} : tensor<3xsi64>
    %e = opset1.Reshape(%x, %one) {special_zero = false} : tensor<1x8x3xf32>
    %groups = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, -1, 4, 3]>} : tensor<4xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 2, 1, 3]>} : tensor<4xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 24]>} : tensor<2xsi64>
    %r = opset1.Reshape(%e, %groups) {special_zero = false} : tensor<1x2x4x3xf32>
    %t = opset1.Transpose(%r, %order) : tensor<1x4x2x3xf32>
    %a = opset1.Reshape(%t, %flat) {special_zero = false} : tensor<1x24xf32>
    %s = opset1.Reshape(%z, %groups) {special_zero = false} : tensor<1x2x4x3xf32>
    %u = opset1.Transpose(%s, %order) : tensor<1x4x2x3xf32>
    %b = opset1.Reshape(%u, %flat) {special_zero = false} : tensor<1x24xf32>
    opset1.Result(%a) {name = "a"}
    opset1.Result(%b) {name = "b"}
  }
}

// -----

// The dynamic dimension need not move.
// CHECK-LABEL: moir.model @later_dimensions
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %t)
// CHECK-NEXT:      opset1.Reshape(%[[M]], %flat)
builtin.module {
  moir.model @later_dimensions {
    %x = opset1.Parameter() {name = "x"} : tensor<?x8x3xf32>
    %groups = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [1, -1, 4, 3]>} : tensor<4xsi64>
    %order = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 1, 3, 2]>} : tensor<4xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, -1]>} : tensor<2xsi64>
    %r = opset1.Reshape(%x, %groups) {special_zero = false} : tensor<1x?x4x3xf32>
    %t = opset1.Transpose(%r, %order) : tensor<1x?x3x4xf32>
    %a = opset1.Reshape(%t, %flat) {special_zero = false} : tensor<1x?xf32>
    opset1.Result(%a) {name = "a"}
  }
}

// -----

// Transposes that cancel each other, around operations that nothing else uses.
// CHECK-LABEL: moir.model @activated
// CHECK:         %[[C:.*]] = opset1.Convolution(%x, %w)
// CHECK:         %[[N:.*]] = opset1.Negative(%[[C]]) : tensor<1x3x4xf32>
// CHECK:         opset1.Maximum(%[[N]], %limit) : tensor<1x3x4xf32>
// CHECK:         %[[T:.*]] = opset1.Transpose(%[[C]], %order) : tensor<1x4x3xf32>
// CHECK:         %[[M:.*]] = opset1.Multiply(%[[T]], %columns)
// CHECK:         opset1.Transpose(%[[M]], %order)
builtin.module {
  moir.model @activated {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x4xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<3x2x1xf32>, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]>} : tensor<3x2x1xf32>
    %order = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [0, 2, 1]>} : tensor<3xsi64>
    %limit = opset1.Constant() {value = #moir.data<tensor<f32>, [-7.0]>} : tensor<f32>
    %columns = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>} : tensor<3xf32>
    %0 = opset1.Convolution(%x, %w) {strides = [1], dilations = [1], pads_begin = [0], pads_end = [0]} : tensor<1x3x4xf32>
    %1 = opset1.Transpose(%0, %order) : tensor<1x4x3xf32>
    %2 = opset1.Negative(%1) : tensor<1x4x3xf32>
    %3 = opset1.Maximum(%2, %limit) : tensor<1x4x3xf32>
    %4 = opset1.Transpose(%3, %order) : tensor<1x3x4xf32>
    %5 = opset1.Transpose(%0, %order) : tensor<1x4x3xf32>
    %6 = opset1.Multiply(%5, %columns) : tensor<1x4x3xf32>
    %7 = opset1.Transpose(%6, %order) : tensor<1x3x4xf32>
    opset1.Result(%4) {name = "y"}
    opset1.Result(%7) {name = "z"}
  }
}

// -----

// A part of a Split, also of slices of one value, is taken for the first part; a slice alone is not.
// CHECK-LABEL: moir.model @parts
// CHECK:         %[[T:.*]] = opset1.Transpose(%p1, %first)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[T]])
// CHECK-NEXT:    opset1.Convolution(%[[M]], %{{.*}})
// CHECK:         %[[S:.*]] = opset1.Transpose(%s0, %first)
// CHECK:         %[[N:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK-NEXT:    opset1.Convolution(%[[N]], %{{.*}})
// CHECK:         %[[A:.*]] = opset1.Transpose(%alone, %first)
// CHECK-NEXT:    opset1.Convolution(%[[A]], %{{.*}})
builtin.module {
  moir.model @parts {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x3x4xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<1x2x3x4xf32>
    %z = opset1.Parameter() {name = "z"} : tensor<1x2x3x4xf32>
    %first = opset1.Constant() {value = #moir.data<tensor<4xsi64>, [0, 3, 1, 2]>} : tensor<4xsi64>
    %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>} : tensor<si64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %two = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %four = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [4]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1x1xsi8>, [1, 0, 0, 1]>} : tensor<2x2x1x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %w = opset1.Multiply(%f, %s) : tensor<2x2x1x1xf32>
    %p0, %p1 = opset1.Split(%x, %axis) {num_splits = 2} : tensor<1x2x3x2xf32>, tensor<1x2x3x2xf32>
    %t0 = opset1.Transpose(%p1, %first) : tensor<1x2x2x3xf32>
    %c0 = opset1.Convolution(%t0, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x3xf32>
    %s0 = opset8.Slice(%y, %zero, %two, %one, %axes) : tensor<1x2x3x2xf32>
    %s1 = opset8.Slice(%y, %two, %four, %one, %axes) : tensor<1x2x3x2xf32>
    %t1 = opset1.Transpose(%s0, %first) : tensor<1x2x2x3xf32>
    %c1 = opset1.Convolution(%t1, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x3xf32>
    %alone = opset8.Slice(%z, %zero, %two, %one, %axes) : tensor<1x2x3x2xf32>
    %t2 = opset1.Transpose(%alone, %first) : tensor<1x2x2x3xf32>
    %c2 = opset1.Convolution(%t2, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x2x2x3xf32>
    opset1.Result(%c0) {name = "a"}
    opset1.Result(%p0) {name = "b"}
    opset1.Result(%c1) {name = "c"}
    opset1.Result(%s1) {name = "d"}
    opset1.Result(%c2) {name = "e"}
  }
}
