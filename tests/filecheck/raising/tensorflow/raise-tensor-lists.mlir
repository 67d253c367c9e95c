// RUN: moir-opt %s -p raise-tensor-lists --split-input-file | filecheck %s

// One list is read and one written at the counter, which is not needed any more.
// CHECK-LABEL: moir.model @map
// CHECK:         %[[Y:.*]] = tf.While(%[[X:.*]], %[[N:.*]]) {graph_attributes = ["body"], sliced = [0], joined = 1, last = 0, invariants = 0, bounds = [0]
// CHECK-NEXT:      %[[E:.*]] = opset1.Parameter() : tensor<*xf32>
// CHECK-NEXT:      %[[V:.*]] = tf.Exp(%[[E]])
// CHECK-NEXT:      opset1.Result(%[[V]])
// CHECK-NEXT:    })
// CHECK-NEXT:    %[[L:.*]] = tf.TensorListSetRange(%{{.*}}, %[[Y]]) {start = 0, complete = true}
// CHECK-NEXT:    opset1.Result(%[[L]])
builtin.module {
  moir.model @map {
    %n = opset1.Parameter() {name = "n"} : tensor<si32>
    %x = opset1.Parameter() {name = "x"} : tensor<?x4xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [4]>} : tensor<1xsi32>
    %l = tf.TensorListFromTensor(%x, %s) : tensor<*x!moir.dynamic>
    %r = tf.TensorListReserve(%s, %n) : tensor<*x!moir.dynamic>
    %1, %2, %3, %4 = tf.While(%0, %l, %r, %n) {graph_attributes = ["cond", "body"]} ({
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %m = opset1.Parameter() : tensor<*xsi32>
      %c = tf.Less(%i, %m) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %m = opset1.Parameter() : tensor<*xsi32>
      %k = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
      %t = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [4]>} : tensor<1xsi32>
      %e = tf.TensorListGetItem(%a, %i, %t) {element_dtype = f32} : tensor<*xf32>
      %v = tf.Exp(%e) : tensor<*xf32>
      %w = tf.TensorListSetItem(%b, %i, %v) : tensor<*x!moir.dynamic>
      %j = tf.AddV2(%i, %k) : tensor<*xsi32>
      opset1.Result(%j)
      opset1.Result(%a)
      opset1.Result(%w)
      opset1.Result(%m)
    }) : tensor<*xsi32>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>, tensor<*xsi32>
    opset1.Result(%3) {name = "y"}
  }
}

// -----

// A condition that depends on data stays, with the states and invariants.
// CHECK-LABEL: moir.model @until
// CHECK:         tf.While(%{{.*}}, %{{.*}}) {graph_attributes = ["cond", "body"], sliced = [], joined = 0, last = 0, invariants = 1, bounds = []
// CHECK-NEXT:      %[[X:.*]] = opset1.Parameter()
// CHECK-NEXT:      %[[N:.*]] = opset1.Parameter()
// CHECK-NEXT:      tf.Less(%[[X]], %[[N]])
builtin.module {
  moir.model @until {
    %n = opset1.Parameter() {name = "n"} : tensor<f32>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %1, %2 = tf.While(%n, %x) {graph_attributes = ["cond", "body"]} ({
      %m = opset1.Parameter() : tensor<*xf32>
      %a = opset1.Parameter() : tensor<*xf32>
      %c = tf.Less(%a, %m) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %m = opset1.Parameter() : tensor<*xf32>
      %a = opset1.Parameter() : tensor<*xf32>
      %e = tf.Exp(%a) : tensor<*xf32>
      opset1.Result(%m)
      opset1.Result(%e)
    }) : tensor<*xf32>, tensor<*xf32>
    opset1.Result(%2) {name = "y"}
  }
}

// -----

// A counter is increased by a loop-invariant 1, as in a loop over a range of Python, and the index is one less. The
// list that gets longer at its end is appended to.
// CHECK-LABEL: moir.model @growing
// CHECK:         %[[Y:.*]], %[[Z:.*]] = tf.While(%{{.*}}, %{{.*}}) {graph_attributes = ["body"], sliced = [], joined = 2, last = 0, invariants = 1, bounds = [1]
// CHECK:         tf.TensorListSetRange(%{{.*}}, %[[Y]]) {start = 0, complete = false, resize_if_index_out_of_bounds = true}
// CHECK:         tf.TensorListConcatLists(%{{.*}}, %[[Z]])
builtin.module {
  moir.model @growing {
    %n = opset1.Parameter() {name = "n"} : tensor<si32>
    %x = opset1.Parameter() {name = "x"} : tensor<4xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %1 = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [4]>} : tensor<1xsi32>
    %r = tf.TensorListReserve(%s, %0) : tensor<*x!moir.dynamic>
    %q = tf.TensorListReserve(%s, %1) : tensor<*x!moir.dynamic>
    %2, %3, %4, %5, %6, %7 = tf.While(%1, %r, %q, %n, %1, %x) {graph_attributes = ["cond", "body"]} ({
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %m = opset1.Parameter() : tensor<*xsi32>
      %d = opset1.Parameter() : tensor<*xsi32>
      %v = opset1.Parameter() : tensor<*xf32>
      %c = tf.Less(%i, %m) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %m = opset1.Parameter() : tensor<*xsi32>
      %d = opset1.Parameter() : tensor<*xsi32>
      %v = opset1.Parameter() : tensor<*xf32>
      %k = tf.AddV2(%i, %d) : tensor<*xsi32>
      %j = tf.Sub(%i, %d) : tensor<*xsi32>
      %l = tf.TensorListSetItem(%a, %j, %v) {resize_if_index_out_of_bounds = true} : tensor<*x!moir.dynamic>
      %e = tf.TensorListLength(%b) : tensor<*xsi32>
      %f = tf.TensorListSetItem(%b, %e, %v) {resize_if_index_out_of_bounds = true} : tensor<*x!moir.dynamic>
      opset1.Result(%k)
      opset1.Result(%l)
      opset1.Result(%f)
      opset1.Result(%m)
      opset1.Result(%d)
      opset1.Result(%v)
    }) : tensor<*xsi32>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>, tensor<*xsi32>, tensor<*xsi32>, tensor<*xf32>
    opset1.Result(%3) {name = "y"}
    opset1.Result(%4) {name = "z"}
  }
}

// -----

// The shape of elements is the one that the reader of a list states, behind a conditional that writes.
// CHECK-LABEL: moir.model @read
// CHECK:         tf.TensorListReserve(%{{.*}}) {read_shape = [3, 2]}
builtin.module {
  moir.model @read {
    %p = opset1.Parameter() {name = "p"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<3x2xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %u = opset1.Constant() {value = #moir.data<tensor<si32>, [-1]>} : tensor<si32>
    %s = opset1.Constant() {value = #moir.data<tensor<2xsi32>, [3, 2]>} : tensor<2xsi32>
    %r = tf.TensorListReserve(%u, %0) : tensor<*x!moir.dynamic>
    %l = tf.If(%p, %r, %x) {graph_attributes = ["then_branch", "else_branch"]} ({
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %v = opset1.Parameter() : tensor<*xf32>
      %i = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
      %b = tf.TensorListSetItem(%a, %i, %v) {resize_if_index_out_of_bounds = true} : tensor<*x!moir.dynamic>
      opset1.Result(%b)
    }, {
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %v = opset1.Parameter() : tensor<*xf32>
      opset1.Result(%a)
    }) : tensor<*x!moir.dynamic>
    %y = tf.TensorListStack(%l, %s) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}
