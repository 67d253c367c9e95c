// RUN: moir-opt %S/Inputs/loop.pbtxt | filecheck %s

// The edge that closes the loop is cut: nothing stands for it at the Merge, and the NextIteration names what it feeds.
// CHECK:      %0 = opset1.Parameter() {name = "x", tensor_names = ["x,x:0"]} : tensor<*xsi32>
// CHECK-NEXT: %1 = tf.Enter(%0) {frame_name = "while", name = "enter", tensor_names = ["enter,enter:0"]} : tensor<*x!moir.dynamic>
// CHECK-NEXT: %2 = moir.none
// CHECK-NEXT: %3, %4 = tf.Merge(%1, %2) {name = "merge", tensor_names = ["merge,merge:0", "merge:1"]}
// CHECK-NEXT: %5 = tf.Less(%3, %4) {{.*}}
// CHECK-NEXT: %6 = tf.LoopCond(%5) {{.*}}
// CHECK-NEXT: %7, %8 = tf.Switch(%3, %6) {{.*}}
// CHECK-NEXT: %9 = tf.NextIteration(%8) {merge = "merge", index = 1, name = "next", tensor_names = ["next,next:0"]}
// CHECK-NEXT: %10 = tf.Exit(%7) {name = "exit", tensor_names = ["exit,exit:0"]}
// CHECK-NEXT: opset1.Result(%10) {name = "exit"}
