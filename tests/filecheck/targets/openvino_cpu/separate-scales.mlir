// RUN: moir-opt %s -p separate-scales --split-input-file | filecheck %s

// Entries of products with constants for channels: a list of indices has one dimension, and a table is no product.
// CHECK-LABEL: moir.model @entries_of_products
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %s)
// CHECK-NEXT:    %[[R:.*]] = opset1.Relu(%[[P]])
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[R]])
// CHECK-NEXT:    opset8.Gather(%[[M]], %one, %zero)
// CHECK:         opset8.Gather(%[[R]], %list, %zero)
// CHECK:         %[[T:.*]] = opset1.Multiply(%{{.*}}, %s)
// CHECK-NEXT:    opset8.Gather(%[[T]], %one, %zero)
builtin.module {
  moir.model @entries_of_products {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [1.0, 2.0]>} : tensor<1x2x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %list = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %s) : tensor<2x2x1xf32>
    %1 = opset1.Relu(%0) : tensor<2x2x1xf32>
    %2 = opset8.Gather(%1, %one, %zero) : tensor<2x1xf32>
    %3 = opset8.Gather(%1, %list, %zero) : tensor<1x2x1xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2x2x1xsi8>, [1, 2, 3, 4]>} : tensor<2x2x1xsi8>
    %f = opset1.Convert(%i) {destination_type = f32} : tensor<2x2x1xf32>
    %t = opset1.Multiply(%f, %s) : tensor<2x2x1xf32>
    %4 = opset8.Gather(%t, %one, %zero) : tensor<2x1xf32>
    %5 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2x1xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%4) {name = "c"}
    opset1.Result(%5) {name = "d"}
  }
}

// -----

// Constant terms for channels of quantized values; a factor alone has no axis.
// CHECK-LABEL: moir.model @entries_of_differences
// CHECK:         %[[D:.*]] = opset1.Subtract(%[[F:.*]], %s)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[D]])
// CHECK-NEXT:    opset8.Gather(%[[M]], %one, %zero)
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %high)
// CHECK-NEXT:    opset8.Gather(%[[P]], %one, %zero)
builtin.module {
  moir.model @entries_of_differences {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2x1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [1.0, 2.0]>} : tensor<1x2x1xf32>
    %one = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %zero = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2x1xf32>
    %1 = opset1.Subtract(%0, %s) : tensor<2x2x1xf32>
    %2 = opset8.Gather(%1, %one, %zero) : tensor<2x1xf32>
    %3 = opset1.Multiply(%x, %high) : tensor<2x2x1xf32>
    %4 = opset8.Gather(%3, %one, %zero) : tensor<2x1xf32>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%4) {name = "b"}
  }
}

// -----

// Behind an ellipsis, of several factors; not of one, nor without an ellipsis.
// CHECK-LABEL: moir.model @slices_of_products
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %s)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.StridedSlice(%[[M]], %b, %e, %t) {{.*}}ellipsis_mask = [1, 0]
// CHECK:         %[[Q:.*]] = opset1.Multiply(%x, %high)
// CHECK-NEXT:    opset1.StridedSlice(%[[Q]], %b, %e, %t) {{.*}}ellipsis_mask = [1, 0]
// CHECK:         opset1.StridedSlice(%[[P]], %b, %e, %t)
builtin.module {
  moir.model @slices_of_products {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>} : tensor<2xsi64>
    %t = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 1]>} : tensor<2xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %s) : tensor<2x3x4xf32>
    %1 = opset1.StridedSlice(%0, %b, %e, %t) {begin_mask = [1, 0], end_mask = [1, 0], ellipsis_mask = [1, 0]} : tensor<2x3x2xf32>
    %2 = opset1.Multiply(%x, %high) : tensor<2x3x4xf32>
    %3 = opset1.StridedSlice(%2, %b, %e, %t) {begin_mask = [1, 0], end_mask = [1, 0], ellipsis_mask = [1, 0]} : tensor<2x3x2xf32>
    %4 = opset1.StridedSlice(%0, %b, %e, %t) {begin_mask = [1, 0], end_mask = [1, 0]} : tensor<2x2x4xf32>
    %5 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3x4xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%4) {name = "c"}
    opset1.Result(%5) {name = "d"}
  }
}

// -----

// Of three dimensions; not of two.
// CHECK-LABEL: moir.model @rows_of_products
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %s)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.ReduceSum(%[[M]], %axis)
// CHECK:         %[[Q:.*]] = opset1.Multiply(%y, %s)
// CHECK-NEXT:    opset1.ReduceSum(%[[Q]], %one)
builtin.module {
  moir.model @rows_of_products {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3x2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<3x4xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<3x1xf32>
    %axis = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %one = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %s) : tensor<2x3x2xf32>
    %1 = opset1.ReduceSum(%0, %axis) {keep_dims = true} : tensor<2x3x1xf32>
    %2 = opset1.Multiply(%y, %s) : tensor<3x4xf32>
    %3 = opset1.ReduceSum(%2, %one) {keep_dims = true} : tensor<3x1xf32>
    %4 = opset1.FakeQuantize(%y, %low, %high, %low, %high) {levels = 256} : tensor<3x4xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%4) {name = "c"}
  }
}

// -----

// Of dynamic shape, to other dimensions behind the first.
// CHECK-LABEL: moir.model @reshaped_products
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %s)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.Reshape(%[[M]], %rows)
// CHECK:         opset1.Reshape(%[[P]], %flat)
// CHECK:         %[[Q:.*]] = opset1.Multiply(%y, %s)
// CHECK-NEXT:    opset1.Reshape(%[[Q]], %rows)
builtin.module {
  moir.model @reshaped_products {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x2xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x3x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<3x1xf32>, [1.0, 2.0, 3.0]>} : tensor<3x1xf32>
    %rows = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [-1, 2]>} : tensor<2xsi64>
    %flat = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %s) : tensor<?x3x2xf32>
    %1 = opset1.Reshape(%0, %rows) {special_zero = false} : tensor<?x2xf32>
    %2 = opset1.Reshape(%0, %flat) {special_zero = false} : tensor<?xf32>
    %3 = opset1.Multiply(%y, %s) : tensor<2x3x2xf32>
    %4 = opset1.Reshape(%3, %rows) {special_zero = false} : tensor<6x2xf32>
    %5 = opset1.FakeQuantize(%y, %low, %high, %low, %high) {levels = 256} : tensor<2x3x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%4) {name = "c"}
    opset1.Result(%5) {name = "d"}
  }
}

// -----

// Constants along the last axis; not for channels.
// CHECK-LABEL: moir.model @sums_of_two_axes
// CHECK:         %[[P:.*]] = opset1.Multiply(%x, %s)
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[P]])
// CHECK-NEXT:    opset1.Add(%[[M]], %c)
// CHECK:         opset1.Subtract(%[[P]], %s)
builtin.module {
  moir.model @sums_of_two_axes {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2x2xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 2.0]>} : tensor<2x1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<2xf32>, [3.0, 4.0]>} : tensor<2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-2.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [13.9375]>} : tensor<f32>
    %0 = opset1.Multiply(%x, %s) : tensor<1x2x2xf32>
    %1 = opset1.Add(%0, %c) : tensor<1x2x2xf32>
    %2 = opset1.Subtract(%0, %s) : tensor<1x2x2xf32>
    %3 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<1x2x2xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}

// -----

// The scales of one summand are moved behind the sum.
// CHECK-LABEL: moir.model @summand
// CHECK:         %[[A:.*]] = opset1.Add(%x, %{{.*}})
// CHECK:         %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[A]])
// CHECK:         opset1.ReduceMean(%[[M]], %axes)
builtin.module {
  moir.model @summand {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2x4xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [2]>} : tensor<1xsi64>
    %low = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [-2.0, -1.0]>} : tensor<1x2x1xf32>
    %high = opset1.Constant() {value = #moir.data<tensor<1x2x1xf32>, [2.0, 1.0]>} : tensor<1x2x1xf32>
    %0 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2x4xf32>
    %1 = opset1.Add(%x, %0) : tensor<2x2x4xf32>
    %2 = opset1.ReduceMean(%1, %axes) {keep_dims = true} : tensor<2x2x1xf32>
    opset1.Result(%2) {name = "y"}
  }
}
