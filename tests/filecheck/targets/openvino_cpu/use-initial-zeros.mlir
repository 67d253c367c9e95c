// RUN: moir-opt %s -p use-initial-zeros --split-input-file | filecheck %s

// CHECK-LABEL: moir.model @cache
// CHECK:           %[[R:[0-9]+]] = opset1.ReduceSum(%z, %{{[0-9]+}}) : tensor<f32>
// CHECK:           %[[S:[0-9]+]] = opset1.Add(%y, %[[R]]) {{.*}}: tensor<?x?xf32>
// CHECK:           opset1.Result(%[[S]]) {name = "y"}
builtin.module {
  moir.model @cache {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %n = opset3.ShapeOf(%x) {output_type = si64} : tensor<2xsi64>
    %z = opset3.Broadcast(%0, %n) {mode = "numpy"} : tensor<?x?xf32>
    %p = opset6.ReadValue(%z) {variable_id = "v", variable_type = f32, variable_shape = "?,?"} : tensor<?x?xf32>
    %y = opset1.Add(%p, %x) : tensor<?x?xf32>
    %a = opset6.Assign(%y) {variable_id = "v"} : tensor<?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Zeros of known sizes, other values, and caches whose rows a Gather reads stay.
// CHECK-LABEL: moir.model @others
// CHECK-NOT:       ReduceSum
builtin.module {
  moir.model @others {
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %b = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %0 = opset1.Constant() {value = #moir.data<tensor<2x3xf32>, [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]>} : tensor<2x3xf32>
    %1 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %2 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %p = opset6.ReadValue(%0) {variable_id = "v", variable_type = f32, variable_shape = "2,3"} : tensor<2x3xf32>
    %y = opset1.Add(%p, %x) : tensor<2x3xf32>
    %a = opset6.Assign(%y) {variable_id = "v"} : tensor<2x3xf32>
    %n = opset3.ShapeOf(%b) {output_type = si64} : tensor<1xsi64>
    %z = opset3.Broadcast(%1, %n) {mode = "numpy"} : tensor<?xf32>
    %q = opset6.ReadValue(%z) {variable_id = "w", variable_type = f32, variable_shape = "?"} : tensor<?xf32>
    %g = opset8.Gather(%q, %b, %2) : tensor<?xf32>
    %c = opset6.Assign(%g) {variable_id = "w"} : tensor<?xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A reordered cache that no attention reads, and that begins without entries, is like others.
// CHECK-LABEL: moir.model @growing
// CHECK:           opset1.ReduceSum(%z
builtin.module {
  moir.model @growing {
    %x = opset1.Parameter() {name = "x"} : tensor<?x?xf32>
    %b = opset1.Parameter() {name = "beam_idx"} : tensor<?xsi32>
    %0 = opset1.Constant() {value = #moir.data<tensor<f32>, [0.0]>} : tensor<f32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
    %2 = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %n = opset3.ShapeOf(%b) {output_type = si64} : tensor<1xsi64>
    %s = opset1.Concat(%n, %2) {axis = 0} : tensor<2xsi64>
    %z = opset3.Broadcast(%0, %s) {mode = "numpy"} : tensor<?x0xf32>
    %p = opset6.ReadValue(%z) {variable_id = "v", variable_type = f32, variable_shape = "?,?"} : tensor<?x?xf32>
    %g = opset8.Gather(%p, %b, %1) : tensor<?x?xf32>
    %y = opset1.Concat(%g, %x) {axis = 1} : tensor<?x?xf32>
    %a = opset6.Assign(%y) {variable_id = "v"} : tensor<?x?xf32>
    opset1.Result(%y) {name = "y"}
  }
}
