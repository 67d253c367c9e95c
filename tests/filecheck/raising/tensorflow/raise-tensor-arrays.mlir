// RUN: moir-opt %s -p raise-tensor-arrays --split-input-file | filecheck %s

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

// -----

// An array with dynamic_size grows where it is written, also in a loop that gets its handle. Two of four reserved
// elements are no whole list.
// CHECK-LABEL: moir.model @growing
// CHECK:         tf.TensorListSetItem(%{{.*}}) {element_dtype = f32, resize_if_index_out_of_bounds = true
// CHECK:         tf.While
// CHECK:           tf.TensorListSetItem(%{{.*}}) {element_dtype = f32, resize_if_index_out_of_bounds = true
// CHECK:         %[[FOUR:.*]] = tf.TensorListReserve
// CHECK:         tf.TensorListScatterIntoExistingList(%[[FOUR]],
// CHECK:         tf.TensorListSetItem(%{{.*}}) {element_dtype = f32}
builtin.module {
  moir.model @growing {
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %y = opset1.Parameter() {name = "y"} : tensor<2x4xf32>
    %i = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %n = opset1.Constant() {value = #moir.data<tensor<si32>, [4]>} : tensor<si32>
    %k = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [0, 1]>} : tensor<2xsi32>
    %a, %f = tf.TensorArrayV3(%i) {dtype = f32, dynamic_size = true} : tensor<*x!moir.dynamic>, tensor<*xf32>
    %g = tf.TensorArrayWriteV3(%a, %i, %x, %f) {T = f32} : tensor<*xf32>
    %b = tf.Identity(%a) : tensor<*x!moir.dynamic>
    %1, %2, %3 = tf.While(%b, %g, %x) {graph_attributes = ["cond", "body"]} ({
      %h = opset1.Parameter() : tensor<*x!moir.dynamic>
      %l = opset1.Parameter() : tensor<*xf32>
      %v = opset1.Parameter() : tensor<*xf32>
      %c = tf.Less(%v, %v) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %h = opset1.Parameter() : tensor<*x!moir.dynamic>
      %l = opset1.Parameter() : tensor<*xf32>
      %v = opset1.Parameter() : tensor<*xf32>
      %j = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
      %m = tf.TensorArrayWriteV3(%h, %j, %v, %l) {T = f32} : tensor<*xf32>
      opset1.Result(%h)
      opset1.Result(%m)
      opset1.Result(%v)
    }) : tensor<*x!moir.dynamic>, tensor<*xf32>, tensor<*xf32>
    %o, %p = tf.TensorArrayV3(%n) {dtype = f32, dynamic_size = false} : tensor<*x!moir.dynamic>, tensor<*xf32>
    %q = tf.TensorArrayScatterV3(%o, %k, %y, %p) {T = f32} : tensor<*xf32>
    %r = tf.TensorArrayWriteV3(%o, %i, %x, %q) {T = f32} : tensor<*xf32>
    opset1.Result(%2) {name = "y"}
    opset1.Result(%r) {name = "z"}
  }
}
