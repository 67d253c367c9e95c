// RUN: moir-opt %s -p lower-tf,eliminate-dead | filecheck %s

// Writes of variables are functions of the value before them.
// CHECK-LABEL: moir.model @writes
// CHECK:         %[[S:.*]] = opset1.Subtract(%v, %x) {name = "less"
// CHECK:         opset15.ScatterNDUpdate(%[[S]], %{{.*}}, %x) {{.*}}reduction = "prod"
// CHECK:         opset15.ScatterNDUpdate(%{{.*}}, %{{.*}}, %{{.*}}) : tensor<2x3xf32>
// CHECK:         opset3.Broadcast
// CHECK:         opset15.ScatterNDUpdate(%{{.*}}, %{{.*}}, %{{.*}}) {{.*}}reduction = "max"
builtin.module {
  moir.model @writes {
    %v = opset1.Parameter() {name = "v"} : tensor<2x3xf32>
    %x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [1, 0]>} : tensor<2xsi32>
    %j = opset1.Constant() {value = #moir.data<tensor<1x2xsi32>, [1, 0]>} : tensor<1x2xsi32>
    %f = opset1.Constant() {value = #moir.data<tensor<1xf32>, [1.0]>} : tensor<1xf32>
    %s = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
    %n = moir.none
    %0 = tf.AssignVariableOp(%n, %v) : tensor<*x!moir.dynamic>
    %1 = tf.AssignSubVariableOp(%0, %x) {name = "less"} : tensor<*x!moir.dynamic>
    %2 = tf.ResourceScatterMul(%1, %i, %x) : tensor<*x!moir.dynamic>
    %3 = tf.ResourceScatterNdUpdate(%2, %j, %f) : tensor<*x!moir.dynamic>
    %4 = tf.ScatterMax(%3, %i, %s) : tensor<*x!moir.dynamic>
    opset1.Result(%4) {name = "y"}
  }
}
