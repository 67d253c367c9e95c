// RUN: not moir-opt %s -p raise-while-frames 2>&1 | filecheck %s

// CHECK: tf.Enter 'while/Enter': the loop while has 0 nodes LoopCond where it should have one
builtin.module {
  moir.model @endless {
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %e = tf.Enter(%x) {frame_name = "while", name = "while/Enter"} : tensor<*xf32>
    %none = moir.none
    %m = tf.Merge(%e, %none) {name = "while/Merge"} : tensor<*xf32>
    %a = tf.Exp(%m) : tensor<*xf32>
    %n = tf.NextIteration(%a) {merge = "while/Merge", index = 1} : tensor<*xf32>
    opset1.Result(%x) {name = "y"}
  }
}
