// RUN: moir-opt %s -p store-quantized-weights,eliminate-dead --split-input-file | filecheck %s

// A symmetric grid: 0.3 is rounded to 1, numbers beyond the limits to the limits.
// CHECK-LABEL: moir.model @signed
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<1x3xsi8>, [1, -128, 127]>}
// CHECK-NEXT:      %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.25]>}
// CHECK-NEXT:      %2 = opset1.Convert(%0) {destination_type = f32} : tensor<1x3xf32>
// CHECK-NEXT:      %q = opset1.Multiply(%2, %1) {name = "q"} : tensor<1x3xf32>
// CHECK-NEXT:      opset1.MatMul(%x, %q)
builtin.module {
  moir.model @signed {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x3xf32>, [0.3, -90.0, 90.0]>} : tensor<1x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-32.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [31.75]>} : tensor<f32>
    %q = opset1.FakeQuantize(%w, %low, %high, %low, %high) {levels = 256, name = "q"} : tensor<1x3xf32>
    %y = opset1.MatMul(%x, %q) : tensor<?x3xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A grid that does not contain 0, weights that something else reads, data.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       Multiply
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x1xf32>
    %w = opset1.Constant() {value = #moir.data<tensor<1x3xf32>, [0.3, -90.0, 90.0]>} : tensor<1x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-32.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [31.75]>} : tensor<f32>
    %other = opset1.Constant() {value = #moir.data<tensor<f32>, [31.0]>} : tensor<f32>
    %a = opset1.FakeQuantize(%w, %low, %other, %low, %other) {levels = 256} : tensor<1x3xf32>
    %b = opset1.FakeQuantize(%w, %low, %high, %low, %high) {levels = 256} : tensor<1x3xf32>
    %c = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<?x1xf32>
    %1 = opset1.MatMul(%x, %a) : tensor<?x3xf32>
    %2 = opset1.MatMul(%c, %w) : tensor<?x3xf32>
    opset1.Result(%1) {name = "y"}
    opset1.Result(%2) {name = "z"}
    opset1.Result(%b) {name = "w"}
  }
}
