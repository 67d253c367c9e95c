// RUN: moir-opt %s -p widen-elements --verify-each --split-input-file | filecheck %s

// GroupNormalization of bf16: is not compiled.
// CHECK-LABEL: moir.model @bf16_normalization
// CHECK:           opset1.Convert(%1) {destination_type = f32} : tensor<1x4x3xf32>
// CHECK:           opset1.Convert(%3) {destination_type = f32} : tensor<4xf32>
// CHECK:           opset1.Convert(%5) {destination_type = f32} : tensor<4xf32>
// CHECK:           opset12.GroupNormalization(%6, %7, %8) {num_groups = 2, epsilon = 1.0e-09} : tensor<1x4x3xf32>
// CHECK:           opset1.Convert(%9) {destination_type = bf16} : tensor<1x4x3xbf16>
// CHECK:           opset1.Convert(%10) {destination_type = f32} : tensor<1x4x3xf32>
builtin.module {
  moir.model @bf16_normalization {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x4x3xf32>
    %1 = opset1.Convert(%0) {destination_type = bf16} : tensor<1x4x3xbf16>
    %2 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<4xf32>
    %3 = opset1.Convert(%2) {destination_type = bf16} : tensor<4xbf16>
    %4 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [0.0, 0.0, 0.0, 0.0]>} : tensor<4xf32>
    %5 = opset1.Convert(%4) {destination_type = bf16} : tensor<4xbf16>
    %6 = opset12.GroupNormalization(%1, %3, %5) {num_groups = 2, epsilon = 1.0e-09} : tensor<1x4x3xbf16>
    %7 = opset1.Convert(%6) {destination_type = f32} : tensor<1x4x3xf32>
    opset1.Result(%7) {name = "y0"}
  }
}

// -----

// IsNaN, IsInf and IsFinite of floats of 8 bits: are not compiled.
// CHECK-LABEL: moir.model @f8_examination
// CHECK:           opset1.Convert(%1) {destination_type = f32} : tensor<2xf32>
// CHECK:           opset10.IsNaN(%2) : tensor<2xi1>
builtin.module {
  moir.model @f8_examination {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2xf32>
    %1 = opset1.Convert(%0) {destination_type = f8E4M3FN} : tensor<2xf8E4M3FN>
    %2 = opset10.IsNaN(%1) : tensor<2xi1>
    opset1.Result(%2) {name = "y0"}
  }
}

// -----

// MaxPool of bf16, of which the places are used: is not compiled.
// CHECK-LABEL: moir.model @bf16_pooling
// CHECK:           opset1.Convert(%1) {destination_type = f32} : tensor<1x1x2xf32>
// CHECK:           opset8.MaxPool(%2) {dilations = [1], strides = [1], pads_begin = [0], pads_end = [0], kernel = [2]} : tensor<1x1x1xf32>, tensor<1x1x1xsi64>
// CHECK:           opset1.Convert(%3) {destination_type = bf16} : tensor<1x1x1xbf16>
builtin.module {
  moir.model @bf16_pooling {
    %0 = opset1.Parameter() {name = "x0"} : tensor<1x1x2xf32>
    %1 = opset1.Convert(%0) {destination_type = bf16} : tensor<1x1x2xbf16>
    %2, %3 = opset8.MaxPool(%1) {dilations = [1], strides = [1], pads_begin = [0], pads_end = [0], kernel = [2]} : tensor<1x1x1xbf16>, tensor<1x1x1xsi64>
    opset1.Result(%3) {name = "y0"}
  }
}

// -----

// ReduceSum and others of bf16 along computed axes: are not compiled.
// CHECK-LABEL: moir.model @bf16_sums
// CHECK:           opset1.Convert(%2) {destination_type = f32} : tensor<2x3xf32>
// CHECK:           opset1.ReduceSum(%3, %1) : tensor<?xf32>
// CHECK:           opset1.Convert(%4) {destination_type = bf16} : tensor<?xbf16>
// CHECK:           opset1.Convert(%5) {destination_type = f32} : tensor<?xf32>
builtin.module {
  moir.model @bf16_sums {
    %0 = opset1.Parameter() {name = "x0"} : tensor<2x3xf32>
    %1 = opset1.Parameter() {name = "x1"} : tensor<1xsi64>
    %2 = opset1.Convert(%0) {destination_type = bf16} : tensor<2x3xbf16>
    %3 = opset1.ReduceSum(%2, %1) : tensor<?xbf16>
    %4 = opset1.Convert(%3) {destination_type = f32} : tensor<?xf32>
    opset1.Result(%4) {name = "y0"}
  }
}

// -----

// Unique of elements of a byte: finds places and counts that are other numbers, or beyond its results.
// CHECK-LABEL: moir.model @unique_bytes
// CHECK:           opset1.Convert(%0) {destination_type = si32} : tensor<3xsi32>
// CHECK:           opset10.Unique(%2, %1) {sorted = false} : tensor<?xsi32>, tensor<?xsi64>, tensor<3xsi64>, tensor<?xsi64>
// CHECK:           opset1.Convert(%3) {destination_type = i1} : tensor<?xi1>
builtin.module {
  moir.model @unique_bytes {
    %0 = opset1.Parameter() {name = "x0"} : tensor<3xi1>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %2, %3, %4, %5 = opset10.Unique(%0, %1) {sorted = false} : tensor<?xi1>, tensor<?xsi64>, tensor<3xsi64>, tensor<?xsi64>
    opset1.Result(%5) {name = "y0"}
  }
}

// -----

// Pad, Transpose and ScatterElementsUpdate of elements of less than 8 bits: move whole bytes, or are not compiled.
// CHECK-LABEL: moir.model @packed_padding
// CHECK:           opset1.Convert(%1) {destination_type = si32} : tensor<4xsi32>
// CHECK:           opset1.Convert(%4) {destination_type = si32} : tensor<si32>
// CHECK:           opset12.Pad(%5, %2, %3, %6) {pad_mode = "edge"} : tensor<6xsi32>
// CHECK:           opset1.Convert(%7) {destination_type = ui2} : tensor<6xui2>
// CHECK:           opset1.Convert(%8) {destination_type = f32} : tensor<6xf32>
builtin.module {
  moir.model @packed_padding {
    %0 = opset1.Parameter() {name = "x0"} : tensor<4xf32>
    %1 = opset1.Convert(%0) {destination_type = ui2} : tensor<4xui2>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %3 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %4 = opset1.Constant() {value = #moir.data<tensor<ui2>, [0]>} : tensor<ui2>
    %5 = opset12.Pad(%1, %2, %3, %4) {pad_mode = "edge"} : tensor<6xui2>
    %6 = opset1.Convert(%5) {destination_type = f32} : tensor<6xf32>
    opset1.Result(%6) {name = "y0"}
  }
}

// -----

// ReduceMax and ReduceMin of no integer of 8 or 16 bits: are the lower bits of the limits of i32.
// CHECK-LABEL: moir.model @narrow_extremes
// CHECK:           opset1.Convert(%0) {destination_type = si32} : tensor<?x?xsi32>
// CHECK:           opset1.ReduceMax(%2, %1) : tensor<?xsi32>
// CHECK:           opset1.Maximum(%3, %4) : tensor<?xsi32>
// CHECK:           opset1.Convert(%5) {destination_type = si16} : tensor<?xsi16>
builtin.module {
  moir.model @narrow_extremes {
    %0 = opset1.Parameter() {name = "x0"} : tensor<?x?xsi16>
    %1 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %2 = opset1.ReduceMax(%0, %1) : tensor<?xsi16>
    opset1.Result(%2) {name = "y0"}
  }
}
