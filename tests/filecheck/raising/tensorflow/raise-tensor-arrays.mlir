// RUN: moir-opt %s -p raise-tensor-arrays | filecheck %s

// The flow becomes the list; all elements written or read at once are those of a tensor.
// CHECK-LABEL: moir.model @arrays
// CHECK:         %[[N:.*]] = opset1.Parameter() {name = "n"}
// CHECK:         %[[X:.*]] = opset1.Parameter() {name = "x"}
// CHECK:         %[[SHAPE:.*]] = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [4]>}
// CHECK:         %[[LIST:.*]] = tf.TensorListReserve(%[[SHAPE]], %[[N]]) {element_dtype = f32, name = "array"}
// CHECK:         %[[SET:.*]] = tf.TensorListSetItem(%[[LIST]], %[[I:.*]], %[[X]]) {element_dtype = f32
// CHECK:         %[[GET:.*]] = tf.TensorListGetItem(%[[SET]], %[[I]], %{{.*}}) {element_dtype = f32
// CHECK:         %[[LENGTH:.*]] = tf.TensorListLength(%[[SET]])
// CHECK:         %[[ALL:.*]] = tf.TensorListStack(%[[SET]], %{{.*}})
// CHECK:         %[[SOME:.*]] = tf.TensorListGather(%[[SET]], %{{.*}}, %{{.*}})
// CHECK-NOT:     TensorArray
builtin.module {
  moir.model @arrays {
    %n = opset1.Parameter() {name = "n"} : tensor<si32>
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
    %a, %f = tf.TensorArrayV3(%n) {dtype = f32, element_shape = [4], name = "array"} : tensor<*x!moir.dynamic>, tensor<*xf32>
    %g = tf.TensorArrayWriteV3(%a, %i, %x, %f) {T = f32, name = "write"} : tensor<*xf32>
    %r = tf.TensorArrayReadV3(%a, %i, %g) {dtype = f32, name = "read"} : tensor<*xf32>
    %s = tf.TensorArraySizeV3(%a, %g) {name = "size"} : tensor<*xsi32>
    %k = tf.Range(%i, %s, %1) {name = "range"} : tensor<*xsi32>
    %y = tf.TensorArrayGatherV3(%a, %k, %g) {dtype = f32, name = "all"} : tensor<*xf32>
    %z = tf.TensorArrayGatherV3(%a, %n, %g) {dtype = f32, name = "some"} : tensor<*xf32>
    opset1.Result(%r) {name = "r"}
    opset1.Result(%y) {name = "y"}
    opset1.Result(%z) {name = "z"}
  }
}
