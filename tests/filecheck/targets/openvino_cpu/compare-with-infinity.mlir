// RUN: moir-opt %s -p compare-with-infinity,eliminate-dead --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @masked
// CHECK:         %[[E:.*]] = opset1.Equal(%x, %{{.*}}) : tensor<2x3xi1>
// CHECK:         opset1.ReduceLogicalAnd(%[[E]], %{{.*}}) {keep_dims = true, name = "e"} : tensor<2x1xi1>
builtin.module {
  moir.model @masked {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true} : tensor<2x1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [0xFF800000]>} : tensor<f32>
    %2 = opset1.Equal(%1, %c) {name = "e"} : tensor<2x1xi1>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A maximum that is compared with a number stays.
// CHECK-LABEL: moir.model @finite
// CHECK:         opset1.ReduceMax
builtin.module {
  moir.model @finite {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %1 = opset1.ReduceMax(%x, %axes) {keep_dims = true} : tensor<2x1xf32>
    %c = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %2 = opset1.Equal(%1, %c) : tensor<2x1xi1>
    opset1.Result(%2) {name = "y"}
  }
}
