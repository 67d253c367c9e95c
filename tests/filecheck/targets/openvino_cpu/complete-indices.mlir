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
