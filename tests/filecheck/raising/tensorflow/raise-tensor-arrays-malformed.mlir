// RUN: not moir-opt %s -p raise-tensor-arrays 2>&1 | filecheck %s

// A result that an array does not have is not deleted with its uses.
// CHECK: tf.TensorArrayV3 'array': it has 1 operands and 2 results, the graph another number
builtin.module {
  moir.model @arrays {
    %n = opset1.Parameter() {name = "n"} : tensor<si32>
    %a, %f, %g = tf.TensorArrayV3(%n) {dtype = f32, element_shape = [4], name = "array"} : tensor<*x!moir.dynamic>, tensor<*xf32>, tensor<*xf32>
    opset1.Result(%g) {name = "r"}
  }
}
