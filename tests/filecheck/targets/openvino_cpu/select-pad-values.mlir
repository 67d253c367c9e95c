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
