// RUN: moir-opt %S/Inputs/state.pbtxt | filecheck %s
// RUN: moir-opt %S/Inputs/state.pbtxt -p default | filecheck %s --check-prefix=IR

// A variable that is written, and read before that, is a ReadValue at the beginning and an Assign at the end. A branch
// that writes it gets its value as an operand, and returns the next one.
// CHECK:      moir.model @state attributes {notes = ["the model has a state, which an infer request keeps until reset_state(): count f32[]"
// CHECK:        %[[COUNT:.*]] = tf.VarHandleOp() {{{.*}}value = #moir.data<tensor<f32>, [0.0]>, name = "count", {{.*}}}
// A write of all of a variable does not read it.
// CHECK-NOT:    name = "fixed"
// CHECK:        %[[NONE:.*]] = moir.none
// CHECK-NEXT:   %[[SET:.*]] = tf.AssignVariableOp(%[[NONE]], %{{.*}}) {name = "set", {{.*}}}
// CHECK-NEXT:   %[[GET:.*]] = tf.ReadVariableOp(%[[SET]]) {name = "get", {{.*}}}
// CHECK-NEXT:   %[[READ:.*]] = opset6.ReadValue(%[[COUNT]]) {variable_id = "count", variable_type = f32, variable_shape = "", name = "count/ReadValue"} : tensor<f32>
// CHECK-NEXT:   %[[IF:.*]] = tf.If(%1, %[[GET]], %[[READ]]) {{.*}} ({
// CHECK-NEXT:     %[[D:.*]] = opset1.Parameter() {name = "step/d", {{.*}}}
// CHECK-NEXT:     %[[S:.*]] = opset1.Parameter() {name = "step/count/state", {{.*}}} : tensor<f32>
// CHECK-NEXT:     %[[N:.*]] = tf.AssignAddVariableOp(%[[S]], %[[D]]) {{.*}}
// CHECK-NEXT:     opset1.Result(%[[N]]) {name = "step/count/next"}
// CHECK:          %[[T:.*]] = opset1.Parameter() {name = "step/count/state", {{.*}}} : tensor<f32>
// CHECK-NEXT:     opset1.Result(%[[T]]) {name = "step/count/next"}
// CHECK:        tf.ReadVariableOp(%[[IF]]) {name = "now", {{.*}}}
// CHECK:        opset6.Assign(%[[IF]]) {variable_id = "count", name = "count/Assign"} : tensor<f32>
// CHECK-NEXT:   opset1.Result(%{{.*}}) {name = "y"}

// IR:         %[[READ:.*]] = opset6.ReadValue(%{{.*}}) {{{.*}}variable_id = "count"{{.*}}} : tensor<f32>
// IR:         %[[IF:.*]] = opset8.If(%{{.*}}, %[[READ]]{{.*}})
// IR:           opset1.Add
// IR:         opset6.Assign(%[[IF]])
