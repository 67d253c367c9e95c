// RUN: moir-opt %s -p "divide-by-norms,eliminate-dead" --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @rows
// CHECK:           %[[NORM:.*]] = opset4.ReduceL2(%x, %axes) {keep_dims = true} : tensor<?x4x8x1xf32>
// CHECK:           %[[LEAST:.*]] = opset1.Constant() {value = #moir.data<tensor<f32>, [0.5]>}
// CHECK-NEXT:      %[[LIMITED:.*]] = opset1.Maximum(%[[NORM]], %[[LEAST]])
// CHECK-NEXT:      opset1.Divide(%x, %[[LIMITED]])
builtin.module {
  moir.model @rows {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8x9xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
    %1 = opset1.NormalizeL2(%x, %axes) {eps = 0.25, eps_mode = "max"} : tensor<?x4x8x9xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// Those of the channels are one operation of the plugin.
// CHECK-LABEL: moir.model @channels
// CHECK-NOT:       ReduceL2
builtin.module {
  moir.model @channels {
    %x = opset1.Parameter() {name = "x"} : tensor<?x4x8x9xf32>
    %axes = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [1]>} : tensor<1xsi64>
    %all = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [1, 2, 3]>} : tensor<3xsi64>
    %1 = opset1.NormalizeL2(%x, %axes) {eps = 0.25, eps_mode = "max"} : tensor<?x4x8x9xf32>
    %2 = opset1.NormalizeL2(%1, %all) {eps = 0.25, eps_mode = "max"} : tensor<?x4x8x9xf32>
    opset1.Result(%2) {name = "y"}
  }
}
