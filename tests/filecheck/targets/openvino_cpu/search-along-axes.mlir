// RUN: moir-opt %s -p search-along-axes --verify-each --split-input-file | filecheck %s

// Unique along another axis than the first: finds other slices.
// CHECK-LABEL: moir.model @unique_axis
// CHECK:           opset1.Transpose(%0, %2) : tensor<7x4xf32>
// CHECK:           opset10.Unique(%3, %4) : tensor<?x4xf32>, tensor<?xsi64>, tensor<7xsi64>, tensor<?xsi64>
// CHECK:           opset1.Transpose(%5, %9) : tensor<4x?xf32>
builtin.module {
  moir.model @unique_axis {
    %0 = opset1.Parameter() {name = "x0"} : tensor<4x7xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [1]>} : tensor<si64>
    %2, %3, %4, %5 = opset10.Unique(%0, %1) : tensor<4x?xf32>, tensor<?xsi64>, tensor<7xsi64>, tensor<?xsi64>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// Unique without an axis and without sorting, of which the places of the values are not used: has other elements.
// CHECK-LABEL: moir.model @unique_unsorted
// CHECK:           opset10.Unique(%0, %1) {sorted = false} : tensor<?xf32>, tensor<?xsi64>, tensor<4xsi64>, tensor<?xsi64>
builtin.module {
  moir.model @unique_unsorted {
    %0 = opset1.Parameter() {name = "x0"} : tensor<4xf32>
    %1, %2, %3, %4 = opset10.Unique(%0) {sorted = false} : tensor<?xf32>, tensor<?xsi64>, tensor<4xsi64>, tensor<?xsi64>
    opset1.Result(%1) {name = "y0"}
  }
}

// -----

// Convert of what TopK returns to boolean: is not compiled.
// CHECK-LABEL: moir.model @top_k_truth
// CHECK:           opset1.NotEqual(%2, %4) : tensor<2xi1>
// CHECK-NOT:       opset1.Convert(
builtin.module {
  moir.model @top_k_truth {
    %0 = opset1.Parameter() {name = "x0"} : tensor<3xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %2, %3 = opset11.TopK(%0, %1) {mode = "max", sort = "value", axis = 0} : tensor<2xf32>, tensor<2xsi32>
    %4 = opset1.Convert(%2) {destination_type = i1} : tensor<2xi1>
    opset1.Result(%4) {name = "y0"}
  }
}

// -----

// TopK of the largest 0 elements, of data of known sizes: is not compiled.
// CHECK-LABEL: moir.model @top_k_none
// CHECK:           opset8.Slice(%0, %2, %3, %4, %5) : tensor<0xf32>
// CHECK:           opset1.Convert(%6) {destination_type = si32} : tensor<0xsi32>
// CHECK-NOT:       opset11.TopK(
builtin.module {
  moir.model @top_k_none {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %2, %3 = opset11.TopK(%0, %1) {mode = "max", sort = "value", axis = 0} : tensor<0xf32>, tensor<0xsi32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// TopK of no element, of data that have some: does not run; with one thread its result has other sizes.
// CHECK-LABEL: moir.model @top_k_empty
// CHECK:           opset8.Slice(%0, %2, %3, %4, %5) : tensor<5x0xf32>
// CHECK:           opset1.Convert(%6) {destination_type = si32} : tensor<5x0xsi32>
// CHECK-NOT:       opset11.TopK(
builtin.module {
  moir.model @top_k_empty {
    %0 = opset1.Parameter() {name = "x0"} : tensor<5x2xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %2, %3 = opset11.TopK(%0, %1) {mode = "max", sort = "value", axis = 1} : tensor<5x0xf32>, tensor<5x0xsi32>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// TopK along the channels of what a MaxPool computes, perhaps through a Relu; not along its rows.
// CHECK-LABEL: moir.model @largest_of_pooled_channels
// CHECK:         %[[R:.*]] = opset1.Relu
// CHECK:         %[[U:.*]] = opset1.Unsqueeze(%[[R]], %{{.*}}) : tensor<1x3x4x3x3xf32>
// CHECK-NEXT:    %[[V:.*]], %[[I:.*]] = opset11.TopK(%[[U]], %k) {index_element_type = si64, axis = 2
// CHECK:         opset15.Squeeze(%[[V]], %{{.*}}) : tensor<3x2x3x3xf32>
// CHECK:         opset15.Squeeze(%[[I]], %{{.*}}) : tensor<3x2x3x3xsi64>
// CHECK:         opset11.TopK(%[[R]], %k) {index_element_type = si64, axis = 2
builtin.module {
  moir.model @largest_of_pooled_channels {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4x6x6xf32>
    %k = opset1.Constant() {value = #moir.data<tensor<si64>, [2]>} : tensor<si64>
    %0 = opset1.MaxPool(%x) {strides = [2, 2], pads_begin = [0, 0], pads_end = [0, 0], kernel = [2, 2]} : tensor<3x4x3x3xf32>
    %1 = opset1.Relu(%0) : tensor<3x4x3x3xf32>
    %2, %3 = opset11.TopK(%1, %k) {axis = -3, mode = "max", sort = "value", index_element_type = si64} : tensor<3x2x3x3xf32>, tensor<3x2x3x3xsi64>
    %4, %5 = opset11.TopK(%1, %k) {axis = 2, mode = "max", sort = "value", index_element_type = si64} : tensor<3x4x2x3xf32>, tensor<3x4x2x3xsi64>
    opset1.Result(%2) {name = "a"}
    opset1.Result(%3) {name = "b"}
    opset1.Result(%4) {name = "c"}
  }
}
