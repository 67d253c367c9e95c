// RUN: moir-opt %s -p "fold-scales,eliminate-dead" --split-input-file | filecheck %s

// A factor goes past the bias into the filters.
// CHECK-LABEL: moir.model @after
// CHECK:           %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [6.0, 6.0]>}
// CHECK:           %[[C:.*]] = opset1.Convolution(%{{.*}}, %[[W]])
// CHECK:           %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [3.0, 3.0]>}
// CHECK:           opset1.Add(%[[C]], %[[B]]) {name = "scaled"}
builtin.module {
  moir.model @after {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [2.0, 2.0]>} : tensor<2x1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x2x10x10xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.0, 1.0]>} : tensor<2x1x1xf32>
    %2 = opset1.Add(%1, %b) : tensor<?x2x10x10xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %3 = opset1.Multiply(%2, %s) {name = "scaled"} : tensor<?x2x10x10xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A factor of the data goes into the filters, zero padding or not; a division as well.
// CHECK-LABEL: moir.model @before
// CHECK:           opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [0.5, 0.5]>}
// CHECK-NEXT:    opset1.Convolution(%[[X:.*]], %{{.*}})
builtin.module {
  moir.model @before {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x8x8xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xf32>, [4.0]>} : tensor<1xf32>
    %0 = opset1.Divide(%x, %s) : tensor<?x1x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [2.0, 2.0]>} : tensor<2x1x1x1xf32>
    %1 = opset1.Convolution(%0, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x2x10x10xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Filters with another use stay, and a factor of columns is none of channels.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Multiply
// CHECK:           opset1.Multiply
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1x8x8xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [2.0, 2.0]>} : tensor<2x1x1x1xf32>
    %1 = opset1.Convolution(%x, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x2x10x10xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %2 = opset1.Multiply(%1, %s) : tensor<?x2x10x10xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%w) {name = "weights"}
    %v = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [2.0, 2.0]>} : tensor<2x1x1x1xf32>
    %3 = opset1.Convolution(%x, %v) {strides = [1, 1], dilations = [1, 1], pads_begin = [1, 1], pads_end = [1, 1]} : tensor<?x2x10x10xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<10xf32>, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 3.0]>} : tensor<10xf32>
    %4 = opset1.Multiply(%3, %t) : tensor<?x2x10x10xf32>
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// Constants that are added one after the other are one.
// CHECK-LABEL: moir.model @sums
// CHECK:           %[[C:.*]] = opset1.Constant() {value = #moir.data<tensor<4xf32>, [3.0, 3.0, 3.0, 3.0]>}
// CHECK-NEXT:    opset1.Add(%[[X:.*]], %[[C]])
// CHECK-NOT:     opset1.Add
builtin.module {
  moir.model @sums {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 1.0, 1.0]>} : tensor<4xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [2.0]>} : tensor<f32>
    %1 = opset1.Add(%x, %a) : tensor<?x3x4xf32>
    %2 = opset1.Add(%b, %1) : tensor<?x3x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// Factors that enlarge the data stay: the data alone do not fit the weights.
// CHECK-LABEL: moir.model @enlarged
// CHECK-COUNT-2: opset1.Multiply
builtin.module {
  moir.model @enlarged {
    %x = opset1.Parameter() {name = "x"} : tensor<2x1xf32>
    %u = opset1.Parameter() {name = "u"} : tensor<2x?xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 3.0]>} : tensor<2xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 1.0]>} : tensor<2x1xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<2x1xf32>, [1.0, 4.0]>} : tensor<2x1xf32>
    %1 = opset1.Multiply(%x, %s) : tensor<2x2xf32>
    %2 = opset1.MatMul(%1, %w) : tensor<2x1xf32>
    %3 = opset1.Multiply(%u, %s) : tensor<2x2xf32>
    %4 = opset1.MatMul(%3, %v) : tensor<2x1xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// A product too small for the element type is no reason to multiply by 0.
// CHECK-LABEL: moir.model @underflow
// CHECK-COUNT-4: opset1.Multiply
// CHECK:         opset1.Convolution
// CHECK-NEXT:    opset1.Multiply
builtin.module {
  moir.model @underflow {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3xf32>
    %h = opset1.Parameter() {name = "h"} : tensor<?x3xf16>
    %i = opset1.Parameter() {name = "i"} : tensor<1x1x4x4xf16>
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0e-25]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f16>, [0.0001]>} : tensor<f16>
    %w = opset1.Constant() {value = #moir.data<tensor<1x1x1x1xf16>, [0.0001]>} : tensor<1x1x1x1xf16>
    %1 = opset1.Multiply(%x, %a) : tensor<?x3xf32>
    %2 = opset1.Multiply(%1, %a) : tensor<?x3xf32>
    %3 = opset1.Multiply(%h, %b) : tensor<?x3xf16>
    %4 = opset1.Multiply(%3, %b) : tensor<?x3xf16>
    %5 = opset1.Convolution(%i, %w) {strides = [1, 1], dilations = [1, 1], pads_begin = [0, 0], pads_end = [0, 0]} : tensor<1x1x4x4xf16>
    %6 = opset1.Multiply(%5, %b) : tensor<1x1x4x4xf16>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%4) {name = "z"}
    opset1.Result(%6) {name = "k"}
  }
}

// -----

// Constants that cancel leave the operand.
// CHECK-LABEL: moir.model @cancelled
// CHECK:           %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK-NEXT:    opset1.Result(%[[X]]) {name = "y"}
builtin.module {
  moir.model @cancelled {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 3.0]>} : tensor<2xf32>
    %1 = opset1.Subtract(%x, %b) : tensor<?x2xf32>
    %2 = opset1.Add(%1, %b) : tensor<?x2xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A factor and a term of each channel become the output range of a quantization.
// CHECK-LABEL: moir.model @range
// CHECK:           %[[A:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [-1.0, -5.0]>}
// CHECK-NEXT:    %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [3.0, 7.0]>}
// CHECK-NEXT:    opset1.FakeQuantize(%[[X:.*]], %[[L:.*]], %[[H:.*]], %[[A]], %[[B]]) {levels = 256, name = "shifted"}
builtin.module {
  moir.model @range {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %l, %h, %l, %h) {levels = 256, name = "quantized"} : tensor<?x2x8x8xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 6.0]>} : tensor<2x1x1xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %0 = opset1.Multiply(%q, %s) : tensor<?x2x8x8xf32>
    %1 = opset1.Add(%0, %t) {name = "shifted"} : tensor<?x2x8x8xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A range that a factor of 0 would make of one number stays.
// CHECK-LABEL: moir.model @no_range
// CHECK:         %[[Q:.*]] = opset1.FakeQuantize(%x, %l, %h, %l, %h)
// CHECK:         opset1.Multiply(%[[Q]], %s) {name = "m"}
builtin.module {
  moir.model @no_range {
    %x = opset1.Parameter() {name = "x"} : tensor<?x2x8x8xf32>
    %l = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %h = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %q = opset1.FakeQuantize(%x, %l, %h, %l, %h) {levels = 256} : tensor<?x2x8x8xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [2.0, 0.0]>} : tensor<2x1x1xf32>
    %0 = opset1.Multiply(%q, %s) {name = "m"} : tensor<?x2x8x8xf32>
    opset1.Result(%0) {name = "y"}
  }
}
