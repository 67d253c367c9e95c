// RUN: moir-opt %s -p complete-indices,eliminate-dead --split-input-file | filecheck %s

// The plugin does not check an index into a short list: zeros follow its numbers.
// CHECK-LABEL: @short_list
moir.model @short_list {
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %data = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [5, 6, 7]>} : tensor<3xsi64>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  // CHECK: %[[FILLED:.*]] = opset1.Constant() {value = #moir.data<tensor<70xsi64>
  // CHECK: opset8.Gather(%[[FILLED]], %i, %axis) {name = "y"} : tensor<?xsi64>
  %y = opset8.Gather(%data, %i, %axis) {name = "y"} : tensor<?xsi64>
  opset1.Result(%y) {name = "y"}
}

// -----

// An index that is limited to the range, or of two dimensions.
// CHECK-LABEL: @others
// CHECK-COUNT-2: opset8.Gather(%data
moir.model @others {
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %j = opset1.Parameter() {name = "j"} : tensor<?x2xsi32>
  %data = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [5, 6, 7]>} : tensor<3xsi64>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %last = opset1.Constant() {value = #moir.data<tensor<si32>, [2]>} : tensor<si32>
  %first = opset1.Constant() {value = #moir.data<tensor<si32>, [-3]>} : tensor<si32>
  %a = opset1.Minimum(%i, %last) : tensor<?xsi32>
  %r = opset1.Maximum(%a, %first) : tensor<?xsi32>
  %y = opset8.Gather(%data, %r, %axis) {name = "y"} : tensor<?xsi64>
  %z = opset8.Gather(%data, %j, %axis) {name = "z"} : tensor<?x2xsi64>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%z) {name = "z"}
}

// -----

// The blocks of the first table lie along its first dimension: each element gets a scale. Those of the second one are
// parts of its rows.
// CHECK-LABEL: @blocks
// CHECK: %[[ROWS:.*]] = opset1.Reshape
// CHECK: %[[SCALES:.*]] = opset1.Constant() {value = #moir.data<tensor<4x1xf32>, [1.0, 1.0, 2.0, 2.0]>}
// CHECK: %[[TABLE:.*]] = opset1.Multiply({{.*}}, %[[SCALES]])
// CHECK: opset8.Gather(%[[TABLE]], %i
// CHECK: opset8.Gather(%[[ROWS]], %i
moir.model @blocks {
  %i = opset1.Parameter() {name = "i"} : tensor<?xsi32>
  %w = opset1.Constant() {value = #moir.data<tensor<2x2x1xui8>, [1, 2, 3, 4]>} : tensor<2x2x1xui8>
  %c = opset1.Convert(%w) {destination_type = f32} : tensor<2x2x1xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<2x1x1xf32>, [1.0, 2.0]>} : tensor<2x1x1xf32>
  %d = opset1.Multiply(%c, %s) : tensor<2x2x1xf32>
  %first = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [4, 1]>} : tensor<2xsi64>
  %last = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [2, 2]>} : tensor<2xsi64>
  %t = opset1.Reshape(%d, %first) {special_zero = false} : tensor<4x1xf32>
  %r = opset1.Reshape(%d, %last) {special_zero = false} : tensor<2x2xf32>
  %axis = opset1.Constant() {value = #moir.data<tensor<si64>, [0]>} : tensor<si64>
  %y = opset8.Gather(%t, %i, %axis) {name = "y"} : tensor<?x1xf32>
  %z = opset8.Gather(%r, %i, %axis) {name = "z"} : tensor<?x2xf32>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%z) {name = "z"}
}
