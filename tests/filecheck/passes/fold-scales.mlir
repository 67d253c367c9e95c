// RUN: moir-opt %s -p "fold-scales,eliminate-dead" --split-input-file | filecheck %s

// A factor goes past the bias into the filters.
// CHECK-LABEL: moir.model @behind
// CHECK:           %[[W:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1x1xf32>, [6.0, 6.0]>}
// CHECK:           %[[C:.*]] = opset1.Convolution(%{{.*}}, %[[W]])
// CHECK:           %[[B:.*]] = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [3.0, 3.0]>}
// CHECK:           opset1.Add(%[[C]], %[[B]]) {name = "scaled"}
builtin.module {
  moir.model @behind {
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
