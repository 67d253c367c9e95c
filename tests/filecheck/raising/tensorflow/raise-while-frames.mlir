// RUN: moir-opt %s -p raise-while-frames --split-input-file | filecheck %s

// The variable becomes a Parameter of both bodies, the constant of the loop an invariant; what is used without having entered is cloned.
// CHECK-LABEL: moir.model @counter
// CHECK:         %[[W:.*]], %{{.*}} = tf.While(%{{.*}}, %{{.*}}) {graph_attributes = ["cond", "body"], name = "while"
// CHECK-SAME:    tensor_names = ["while/Exit,while/Exit:0", ""]
// CHECK:           %[[I:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[N:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[C:.*]] = tf.Less(%[[I]], %[[N]])
// CHECK-NEXT:      opset1.Result(%[[C]])
// CHECK:           %[[I2:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[N2:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[ONE:.*]] = opset1.Constant()
// CHECK-NEXT:      %[[NEXT:.*]] = tf.AddV2(%[[I2]], %[[ONE]])
// CHECK-NEXT:      opset1.Result(%[[NEXT]])
// CHECK-NEXT:      opset1.Result(%[[N2]])
// CHECK:         opset1.Result(%[[W]])
// CHECK-NOT:     tf.Enter
builtin.module {
  moir.model @counter {
    %n = opset1.Parameter() {name = "n"} : tensor<si32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
    %e = tf.Enter(%0) {frame_name = "while/while_context", name = "while/Enter"} : tensor<*xsi32>
    %b = tf.Enter(%n) {frame_name = "while/while_context", is_constant = true, name = "while/Less/Enter"} : tensor<*xsi32>
    %none = moir.none
    %m = tf.Merge(%e, %none) {name = "while/Merge"} : tensor<*xsi32>
    %l = tf.Less(%m, %b) {name = "while/Less"} : tensor<*xi1>
    %c = tf.LoopCond(%l) {name = "while/LoopCond"} : tensor<*xi1>
    %s, %t = tf.Switch(%m, %c) {name = "while/Switch"} : tensor<*xsi32>, tensor<*xsi32>
    %a = tf.AddV2(%t, %1) {name = "while/add"} : tensor<*xsi32>
    %x = tf.NextIteration(%a) {merge = "while/Merge", index = 1, name = "while/NextIteration"} : tensor<*xsi32>
    %y = tf.Exit(%s) {name = "while/Exit", tensor_names = ["while/Exit,while/Exit:0"]} : tensor<*xsi32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// A loop inside of a loop is a While in the body of the other.
// CHECK-LABEL: moir.model @nested
// CHECK:         tf.While(%{{.*}}, %{{.*}}) {graph_attributes = ["cond", "body"], name = "outer"
// CHECK:           opset1.Result
// CHECK:           tf.While(%{{.*}}) {graph_attributes = ["cond", "body"], name = "inner"
// CHECK-NOT:     tf.Exit
builtin.module {
  moir.model @nested {
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %n = opset1.Parameter() {name = "n"} : tensor<f32>
    %e = tf.Enter(%x) {frame_name = "outer"} : tensor<*xf32>
    %b = tf.Enter(%n) {frame_name = "outer", is_constant = true} : tensor<*xf32>
    %none = moir.none
    %m = tf.Merge(%e, %none) {name = "outer/Merge"} : tensor<*xf32>
    %l = tf.Less(%m, %b) : tensor<*xi1>
    %c = tf.LoopCond(%l) : tensor<*xi1>
    %s, %t = tf.Switch(%m, %c) : tensor<*xf32>, tensor<*xf32>
    %e1 = tf.Enter(%t) {frame_name = "inner"} : tensor<*xf32>
    %none1 = moir.none
    %m1 = tf.Merge(%e1, %none1) {name = "inner/Merge"} : tensor<*xf32>
    %ten = opset1.Constant() {value = #moir.data<tensor<f32>, [10.0]>} : tensor<f32>
    %l1 = tf.Less(%m1, %ten) : tensor<*xi1>
    %c1 = tf.LoopCond(%l1) : tensor<*xi1>
    %s1, %t1 = tf.Switch(%m1, %c1) : tensor<*xf32>, tensor<*xf32>
    %a1 = tf.Exp(%t1) : tensor<*xf32>
    %x1 = tf.NextIteration(%a1) {merge = "inner/Merge", index = 1} : tensor<*xf32>
    %y1 = tf.Exit(%s1) : tensor<*xf32>
    %x2 = tf.NextIteration(%y1) {merge = "outer/Merge", index = 1} : tensor<*xf32>
    %y = tf.Exit(%s) {name = "y"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}
