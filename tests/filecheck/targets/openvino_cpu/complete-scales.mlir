// RUN: moir-opt %s -p complete-scales,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @image
// CHECK:           %0 = opset1.Constant() {value = #moir.data<tensor<4xf32>, [1.0, 1.0, 3.0, 2.0]>}
// CHECK-NEXT:      %1 = opset11.Interpolate(%x, %0) {{{.*}}shape_calculation_mode = "scales", name = "y"} : tensor<?x3x?x?xf32>
builtin.module {
  moir.model @image {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x?x?xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 3.0]>} : tensor<2xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [3, 2]>} : tensor<2xsi64>
    %1 = opset11.Interpolate(%x, %s, %a) {mode = "nearest", shape_calculation_mode = "scales", name = "y"} : tensor<?x3x?x?xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Sizes, other modes, one dimension of an image.
// CHECK-LABEL: moir.model @others
// CHECK:           opset11.Interpolate(%x, %n, %a)
// CHECK:           opset11.Interpolate(%x, %s, %a)
// CHECK:           opset11.Interpolate(%x, %t, %b)
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<?x3x4x4xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [8, 8]>} : tensor<2xsi64>
    %s = opset1.Constant() {value = #moir.data<tensor<2xf32>, [2.0, 2.0]>} : tensor<2xf32>
    %t = opset1.Constant() {value = #moir.data<tensor<1xf32>, [2.0]>} : tensor<1xf32>
    %a = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 3]>} : tensor<2xsi64>
    %b = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [3]>} : tensor<1xsi64>
    %1 = opset11.Interpolate(%x, %n, %a) {mode = "nearest", shape_calculation_mode = "sizes"} : tensor<?x3x8x8xf32>
    %2 = opset11.Interpolate(%x, %s, %a) {mode = "cubic", shape_calculation_mode = "scales"} : tensor<?x3x8x8xf32>
    %3 = opset11.Interpolate(%x, %t, %b) {mode = "nearest", shape_calculation_mode = "scales"} : tensor<?x3x4x8xf32>
    opset1.Result(%1) {name = "a"}
    opset1.Result(%2) {name = "b"}
    opset1.Result(%3) {name = "c"}
  }
}
