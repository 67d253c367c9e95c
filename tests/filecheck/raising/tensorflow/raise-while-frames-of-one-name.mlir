// RUN: moir-opt %s -p raise-while-frames | filecheck %s

// Loops that are not connected are two, although their nodes have one frame name.
// CHECK-LABEL: moir.model @twice
// CHECK:         %[[A:.*]] = tf.While(%x) {graph_attributes = ["cond", "body"]
// CHECK:           opset1.Parameter
// CHECK:           tf.Neg
// CHECK:         %[[B:.*]] = tf.While(%[[A]]) {graph_attributes = ["cond", "body"]
// CHECK:           tf.Abs
// CHECK:         opset1.Result(%[[B]]) {name = "y"}
// CHECK-NOT:     tf.Enter
builtin.module {
  moir.model @twice {
    %x = opset1.Parameter() {name = "x"} : tensor<si32>
    %0 = moir.none
    %1 = tf.Enter(%x) {frame_name = "while", name = "a/enter"} : tensor<*x!moir.dynamic>
    %2 = tf.Merge(%1, %0) {name = "a/merge"} : tensor<*x!moir.dynamic>
    %3 = tf.LoopCond(%2) : tensor<*x!moir.dynamic>
    %4, %5 = tf.Switch(%2, %3) : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    %6 = tf.Neg(%5) : tensor<*x!moir.dynamic>
    %7 = tf.NextIteration(%6) {merge = "a/merge", index = 1} : tensor<*x!moir.dynamic>
    %8 = tf.Exit(%4) {name = "a"} : tensor<*x!moir.dynamic>
    %9 = tf.Enter(%8) {frame_name = "while", name = "b/enter"} : tensor<*x!moir.dynamic>
    %10 = tf.Merge(%9, %0) {name = "b/merge"} : tensor<*x!moir.dynamic>
    %11 = tf.LoopCond(%10) : tensor<*x!moir.dynamic>
    %12, %13 = tf.Switch(%10, %11) : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    %14 = tf.Abs(%13) : tensor<*x!moir.dynamic>
    %15 = tf.NextIteration(%14) {merge = "b/merge", index = 1} : tensor<*x!moir.dynamic>
    %16 = tf.Exit(%12) {name = "b"} : tensor<*x!moir.dynamic>
    opset1.Result(%16) {name = "y"}
  }
}
