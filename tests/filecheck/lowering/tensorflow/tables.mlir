// RUN: moir-opt %s -p lower-tf,eliminate-dead --split-input-file | filecheck %s

// A table of numbers is searched. It is found by its number also where the handle comes through an operand of a function.
// CHECK-LABEL: moir.model @numbers
// CHECK:         opset8.If
// CHECK:           %[[K:.*]] = opset1.Constant() {value = #moir.data<tensor<3xsi64>, [2, 5, 9]>}
// CHECK:           %[[P:.*]] = opset15.SearchSorted(%[[K]], %[[X:.*]]) : tensor<4xsi64>
// CHECK:           %[[Q:.*]] = opset1.Minimum(%[[P]], %{{.*}})
// CHECK:           %[[F:.*]] = opset8.Gather(%[[K]], %[[Q]], %{{.*}})
// CHECK:           %[[E:.*]] = opset1.Equal(%[[F]], %[[X]])
// CHECK:           opset1.Constant() {value = #moir.data<tensor<3xf32>, [0.5, 1.5, 2.5]>}
// CHECK:           opset1.Select(%[[E]], %{{.*}}, %{{.*}}) : tensor<4xf32>
builtin.module {
  moir.model @numbers {
    %p = opset1.Parameter() {name = "p"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<4xsi64>
    %d = opset1.Constant() {value = #moir.data<tensor<f32>, [-1.0]>} : tensor<f32>
    %t = tf.HashTableV2() {keys = #moir.data<tensor<3xsi64>, [5, 2, 9]>, values = #moir.data<tensor<3xf32>, [1.5, 0.5, 2.5]>, name = "table"} : tensor<*x!moir.dynamic>
    %y = tf.If(%p, %t, %x, %d) {graph_attributes = ["then_branch", "else_branch"]} ({
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*xsi64>
      %c = opset1.Parameter() : tensor<*xf32>
      %r = tf.LookupTableFindV2(%a, %b, %c) : tensor<*xf32>
      opset1.Result(%r)
    }, {
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*xsi64>
      %c = opset1.Parameter() : tensor<*xf32>
      %r = tf.Cast(%b) {DstT = f32} : tensor<*xf32>
      opset1.Result(%r)
    }) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// CHECK-LABEL: moir.model @size
// CHECK:         %[[N:.*]] = opset1.Constant() {value = #moir.data<tensor<si64>, [3]>
// CHECK-NEXT:    opset1.Result(%[[N]])
builtin.module {
  moir.model @size {
    %t = tf.HashTableV2() {keys = #moir.data<tensor<3xsi64>, [5, 2, 9]>, values = #moir.data<tensor<3xf32>, [1.5, 0.5, 2.5]>} : tensor<*x!moir.dynamic>
    %n = tf.LookupTableSizeV2(%t) : tensor<*xsi64>
    opset1.Result(%n) {name = "n"}
  }
}

// -----

// A variable is its value.
// CHECK-LABEL: moir.model @variable
// CHECK:         %[[V:.*]] = opset1.Constant() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>
// CHECK:         %[[S:.*]] = opset3.ShapeOf(%[[V]]) {output_type = si32
// CHECK:         %[[T:.*]] = opset1.Constant() {value = #moir.data<tensor<i1>, [true]>
// CHECK:         opset1.Result(%[[V]])
builtin.module {
  moir.model @variable {
    %h = tf.VarHandleOp() {value = #moir.data<tensor<2xf32>, [1.0, 2.0]>, name = "v"} : tensor<*x!moir.dynamic>
    %s = tf.VariableShape(%h) : tensor<*xsi32>
    %i = tf.VarIsInitializedOp(%h) : tensor<*xi1>
    %r = tf.ReadVariableOp(%h) : tensor<*xf32>
    opset1.Result(%r) {name = "r"}
    opset1.Result(%s) {name = "s"}
    opset1.Result(%i) {name = "i"}
  }
}
