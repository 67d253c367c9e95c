// RUN: moir-opt %s -p separate-kept-products --split-input-file | filecheck %s

// A product that is kept in f32 is not merged with a bias, nor a convolution with a sum.
// CHECK-LABEL: moir.model @kept
// CHECK:           %0 = opset1.MatMul(%x, %w)
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>}
// CHECK-NEXT:      %2 = opset1.PRelu(%0, %1) {runtime_info = {precise = {version = "0"}}} : tensor<?x4xf32>
// CHECK-NEXT:      %3 = opset1.Add(%2, %b)
// CHECK:           %4 = opset1.Convolution(%i, %f)
// CHECK-NEXT:      %5 = opset1.Constant()
// CHECK-NEXT:      %6 = opset1.PRelu(%4, %5) {runtime_info = {precise = {version = "0"}}}
// CHECK-NEXT:      %7 = opset1.Subtract(%i, %6)
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %i = opset1.Parameter() {name = "i"} : tensor<1x2x8x8xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %f = opset1.Parameter() {name = "f"} : tensor<2x2x1x1xf32>
    %b = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 2.0, 3.0, 4.0]>} : tensor<4xf32>
    %0 = opset1.MatMul(%x, %w) {runtime_info = {precise = {version = "0"}}} : tensor<?x4xf32>
    %1 = opset1.Add(%0, %b) : tensor<?x4xf32>
    %2 = opset1.Convolution(%i, %f) {strides = [1, 1], pads_begin = [0, 0], pads_end = [0, 0], dilations = [1, 1], runtime_info = {precise = {version = "0"}}} : tensor<1x2x8x8xf32>
    %3 = opset1.Subtract(%i, %2) : tensor<1x2x8x8xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Products without a mark stay as they are, and marked ones that no sum reads.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       PRelu
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %w = opset1.Parameter() {name = "w"} : tensor<4x4xf32>
    %0 = opset1.MatMul(%x, %w) : tensor<?x4xf32>
    %1 = opset1.Add(%0, %x) : tensor<?x4xf32>
    %2 = opset1.MatMul(%1, %w) {runtime_info = {precise = {version = "0"}}} : tensor<?x4xf32>
    %3 = opset1.Relu(%2) : tensor<?x4xf32>
    opset1.Result(%3) {name = "y"}
  }
}
