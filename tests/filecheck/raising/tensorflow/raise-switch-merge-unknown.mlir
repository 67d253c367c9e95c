// RUN: not moir-opt %s -p raise-switch-merge 2>&1 | filecheck %s

// CHECK: tf.Merge 'cond/Merge': none of the branches it joins depends on a Switch
builtin.module {
  moir.model @constants {
    %a = opset1.Constant() {value = #moir.data<tensor<f32>, [3.0]>} : tensor<f32>
    %b = opset1.Constant() {value = #moir.data<tensor<f32>, [4.0]>} : tensor<f32>
    %y = tf.Merge(%a, %b) {name = "cond/Merge"} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}
