// RUN: moir-opt %s -p "fuse-fake-quantize,eliminate-dead" --split-input-file | filecheck %s

// The limits of an activation are around the range to which numbers are rounded.
// CHECK-LABEL: moir.model @limits
// CHECK-NOT:       Relu
// CHECK-NOT:       Minimum
// CHECK:           opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256{{.*}}name = "y"
builtin.module {
  moir.model @limits {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %1 = opset1.Relu(%x) : tensor<1x2xf32>
    %2 = opset1.Minimum(%high, %1) : tensor<1x2xf32>
    %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high) {levels = 256, name = "y"} : tensor<1x2xf32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// Negative numbers would be rounded, and the second activation has another use.
// CHECK-LABEL: moir.model @kept
// CHECK:           opset1.Relu
// CHECK:           opset1.Clamp
builtin.module {
  moir.model @kept {
    %x = opset1.Parameter() {name = "x"} : tensor<1x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [6.0]>} : tensor<f32>
    %1 = opset1.Relu(%x) : tensor<1x2xf32>
    %2 = opset1.FakeQuantize(%1, %low, %high, %low, %high) {levels = 256} : tensor<1x2xf32>
    %3 = opset1.Clamp(%x) {min = -2.0, max = 7.0} : tensor<1x2xf32>
    %4 = opset1.FakeQuantize(%3, %low, %high, %low, %high) {levels = 256} : tensor<1x2xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%3) {name = "z"}
    opset1.Result(%4) {name = "w"}
  }
}

// -----

// Roundings to the same levels become one; the third operand is rounded to them already.
// CHECK-LABEL: moir.model @joined
// CHECK:           %[[Z:.*]] = opset1.FakeQuantize(%x
// CHECK:           %[[T:.*]] = opset1.Transpose(%[[Z]]
// CHECK:           %[[C:.*]] = opset1.Concat(%a, %b, %[[T]]) {axis = 1
// CHECK:           opset1.FakeQuantize(%[[C]], %low, %high, %low, %high) {levels = 256{{.*}}name = "y"
builtin.module {
  moir.model @joined {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %a = opset1.Tanh(%x) : tensor<2x2xf32>
    %b = opset1.Sigmoid(%x) : tensor<2x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %order = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset1.FakeQuantize(%a, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %2 = opset1.FakeQuantize(%b, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %3 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %4 = opset1.Transpose(%3, %order) : tensor<2x2xf32>
    %5 = opset1.Concat(%1, %2, %4) {axis = 1, name = "y"} : tensor<2x6xf32>
    opset1.Result(%5) {name = "y"}
    opset1.Result(%3) {name = "z"}
  }
}

// -----

// Other levels, and an operand that is not rounded.
// CHECK-LABEL: moir.model @apart
// CHECK:           opset1.Concat({{.*}}) {axis = 1, name = "y"}
// CHECK:           opset1.Concat({{.*}}) {axis = 1, name = "z"}
builtin.module {
  moir.model @apart {
    %x = opset1.Parameter() {name = "x"} : tensor<2x2xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %2 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 16} : tensor<2x2xf32>
    %3 = opset1.Concat(%1, %2) {axis = 1, name = "y"} : tensor<2x4xf32>
    %4 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %5 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x2xf32>
    %6 = opset1.Concat(%4, %5, %x) {axis = 1, name = "z"} : tensor<2x6xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%6) {name = "z"}
  }
}
