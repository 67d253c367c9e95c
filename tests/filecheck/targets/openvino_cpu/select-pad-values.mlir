// RUN: moir-opt %s -p select-pad-values --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @computed
// CHECK:         %[[M:.*]] = opset12.Pad(%{{.*}}, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<3x5xui8>
// CHECK:         %[[I:.*]] = opset1.Convert(%[[M]]) {destination_type = i1} : tensor<3x5xi1>
// CHECK:         %[[P:.*]] = opset12.Pad(%x, %{{.*}}, %{{.*}}) {pad_mode = "constant"} : tensor<3x5xf32>
// CHECK:         opset1.Select(%[[I]], %[[P]], %v) {name = "p"} : tensor<3x5xf32>
builtin.module {
  moir.model @computed {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %v = opset1.Parameter() {name = "v"} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %e = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 2]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %e, %v) {pad_mode = "constant", name = "p"} : tensor<3x5xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// An integer that f32 does not hold is chosen too.
// CHECK-LABEL: moir.model @large
// CHECK:         opset1.Select
builtin.module {
  moir.model @large {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xsi64>
    %v = opset1.Constant() {value = #moir.data<tensor<si64>, [9223372036854775807]>} : tensor<si64>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %b, %v) {pad_mode = "constant"} : tensor<4x3xsi64>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// A value that is constant stays.
// CHECK-LABEL: moir.model @constant
// CHECK-NOT:     opset1.Select
builtin.module {
  moir.model @constant {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %v = opset1.Constant() {value = #moir.data<tensor<f32>, [9.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %1 = opset12.Pad(%x, %b, %b, %v) {pad_mode = "constant"} : tensor<4x3xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Along one axis a value is not one of the levels to which the data are rounded.

// CHECK-LABEL: moir.model @levels
// CHECK:           %[[Q:.*]] = opset1.FakeQuantize
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[Q]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @levels {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %begins = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %ends = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
    %value = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %2 = opset12.Pad(%1, %begins, %ends, %value) {pad_mode = "constant"} : tensor<3x3xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// So it is for what is computed of levels in integers.

// CHECK-LABEL: moir.model @sums
// CHECK:           %[[S:.*]] = opset1.ReduceSum
// CHECK:           %[[M:.*]] = opset1.Maximum(%{{.*}}, %[[S]])
// CHECK:           opset12.Pad(%[[M]]
builtin.module {
  moir.model @sums {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %low = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %high = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %begins = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [1, 0]>} : tensor<2xsi64>
    %ends = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 0]>} : tensor<2xsi64>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %value = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>} : tensor<f32>
    %1 = opset1.FakeQuantize(%x, %low, %high, %low, %high) {levels = 256} : tensor<2x3xf32>
    %2 = opset1.ReduceSum(%1, %axes) {keep_dims = true} : tensor<2x1xf32>
    %3 = opset12.Pad(%2, %begins, %ends, %value) {pad_mode = "constant"} : tensor<3x1xf32>
    opset1.Result(%3) {name = "y"}
  }
}
