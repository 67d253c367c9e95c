// RUN: not moir-opt %s -p lower-tf 2>&1 | filecheck %s

// CHECK: tf.VarHandleOp 'v': the variable has no value
builtin.module {
  moir.model @variable {
    %h = tf.VarHandleOp() {name = "v"} : tensor<*x!moir.dynamic>
    %r = tf.ReadVariableOp(%h) : tensor<*xf32>
    opset1.Result(%r) {name = "r"}
  }
}
