// RUN: moir-opt %s -p raise-switch-merge --split-input-file | filecheck %s

// Two Merges of one predicate are one If. A constant that no Switch leads to belongs to the branch that is left.
// CHECK-LABEL: moir.model @two_outputs
// CHECK:         %[[Y:.*]], %[[Z:.*]] = tf.If(%[[P:.*]], %[[X:.*]]) {graph_attributes = ["then_branch", "else_branch"]
// CHECK:           %[[A:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[B:.*]] = tf.Abs(%[[A]])
// CHECK-NEXT:      opset1.Result(%[[B]])
// CHECK-NEXT:      opset1.Result(%[[B]])
// CHECK:           %[[C:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[K:.*]] = opset1.Constant()
// CHECK-NEXT:      %[[D:.*]] = tf.Neg(%[[C]])
// CHECK-NEXT:      opset1.Result(%[[D]])
// CHECK-NEXT:      opset1.Result(%[[K]])
// CHECK:         opset1.Result(%[[Y]])
// CHECK-NEXT:    opset1.Result(%[[Z]])
builtin.module {
  moir.model @two_outputs {
    %p = opset1.Parameter() {name = "p"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %k = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %i = tf.Identity(%p) {name = "cond/pred_id"} : tensor<*xi1>
    %f, %t = tf.Switch(%x, %i) : tensor<*xf32>, tensor<*xf32>
    %a = tf.Abs(%t) : tensor<*xf32>
    %n = tf.Neg(%f) : tensor<*xf32>
    %y = tf.Merge(%n, %a) {name = "cond/Merge"} : tensor<*xf32>
    %z = tf.Merge(%k, %a) {name = "cond/Merge_1"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}

// -----

// The second result of a Merge says which operand it has.
// CHECK-LABEL: moir.model @value_index
// CHECK:         %{{.*}}, %[[I:.*]] = tf.If
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si32>, [1]>}
// CHECK:           opset1.Constant() {value = #moir.data<tensor<si32>, [0]>}
// CHECK:         opset1.Result(%[[I]])
builtin.module {
  moir.model @value_index {
    %p = opset1.Parameter() {name = "p"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %f, %t = tf.Switch(%x, %p) : tensor<*xf32>, tensor<*xf32>
    %y, %i = tf.Merge(%f, %t) {name = "m"} : tensor<*xf32>, tensor<*xsi32>
    opset1.Result(%i) {name = "i"}
  }
}

// -----

// An If inside of a branch of another.
// CHECK-LABEL: moir.model @nested
// CHECK:         tf.If(%[[P:[a-z0-9]+]], %{{.*}})
// CHECK:           tf.If(%{{.*}}, %{{.*}})
// CHECK-NOT:     tf.Switch
builtin.module {
  moir.model @nested {
    %p = opset1.Parameter() {name = "p"} : tensor<i1>
    %q = opset1.Parameter() {name = "q"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %f, %t = tf.Switch(%x, %p) : tensor<*xf32>, tensor<*xf32>
    %g, %u = tf.Switch(%q, %p) : tensor<*xi1>, tensor<*xi1>
    %h, %v = tf.Switch(%t, %u) : tensor<*xf32>, tensor<*xf32>
    %a = tf.Abs(%v) : tensor<*xf32>
    %m = tf.Merge(%h, %a) : tensor<*xf32>
    %y = tf.Merge(%f, %m) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// Three branches are a Case.
// CHECK-LABEL: moir.model @case
// CHECK:         tf.Case(%{{.*}}, %{{.*}}) {graph_attributes = ["branches", "branches", "branches"]
builtin.module {
  moir.model @case {
    %i = opset1.Parameter() {name = "i"} : tensor<si32>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %a, %b, %c = tf._SwitchN(%x, %i) : tensor<*xf32>, tensor<*xf32>, tensor<*xf32>
    %0 = tf.Abs(%a) : tensor<*xf32>
    %1 = tf.Neg(%b) : tensor<*xf32>
    %y = tf.Merge(%0, %1, %c) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}
