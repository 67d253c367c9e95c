// RUN: moir-opt %s -p raise-tensor-lists,lower-tf,eliminate-dead --split-input-file | filecheck %s

// A bound makes the trip count, a constant one that is the length of a sliced list a TensorIterator.
// CHECK-LABEL: moir.model @counted
// CHECK:         opset1.TensorIterator(%{{.*}}) {inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>], outputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>]
// CHECK:           opset15.Squeeze
// CHECK-NEXT:      opset1.Exp
// CHECK:           opset1.Unsqueeze
// CHECK:         opset1.Result(%{{.*}}) {name = "y"}
builtin.module {
  moir.model @counted {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4xf32>
    %n = opset1.Constant() {value = #moir.data<tensor<si32>, [3]>} : tensor<si32>
    %0 = opset1.Constant() {value = #moir.data<tensor<si32>, [0]>} : tensor<si32>
    %s = opset1.Constant() {value = #moir.data<tensor<1xsi32>, [4]>} : tensor<1xsi32>
    %l = tf.TensorListFromTensor(%x, %s) : tensor<*x!moir.dynamic>
    %r = tf.TensorListReserve(%s, %n) {element_dtype = f32} : tensor<*x!moir.dynamic>
    %1, %2, %3 = tf.While(%0, %l, %r) {graph_attributes = ["cond", "body"]} ({
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %m = opset1.Constant() {value = #moir.data<tensor<si32>, [3]>} : tensor<si32>
      %c = tf.Less(%i, %m) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %i = opset1.Parameter() : tensor<*xsi32>
      %a = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %k = opset1.Constant() {value = #moir.data<tensor<si32>, [1]>} : tensor<si32>
      %e = tf.TensorListGetItem(%a, %i, %k) {element_dtype = f32} : tensor<*xf32>
      %v = tf.Exp(%e) : tensor<*xf32>
      %w = tf.TensorListSetItem(%b, %i, %v) : tensor<*x!moir.dynamic>
      %j = tf.AddV2(%i, %k) : tensor<*xsi32>
      opset1.Result(%j)
      opset1.Result(%a)
      opset1.Result(%w)
    }) : tensor<*xsi32>, tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    %y = tf.TensorListStack(%3, %s) {element_dtype = f32} : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// -----

// The condition is computed before the Loop and at the end of the body.
// CHECK-LABEL: moir.model @conditional
// CHECK:         %[[C:.*]] = opset1.Less(%[[X:.*]], %[[N:.*]])
// CHECK:         opset5.Loop(%{{.*}}, %[[C]], %[[X]], %[[N]]) {inputs = [#moir.port<2 back 1>, #moir.port<3>], outputs = [#moir.port<1>], condition = 0}
// CHECK:           %[[E:.*]] = opset1.Exp
// CHECK-NEXT:      %[[D:.*]] = opset1.Less(%[[E]], %{{.*}})
// CHECK-NEXT:      opset1.Result(%[[D]])
// CHECK-NEXT:      opset1.Result(%[[E]])
builtin.module {
  moir.model @conditional {
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %n = opset1.Parameter() {name = "n"} : tensor<f32>
    %1, %2 = tf.While(%x, %n) {graph_attributes = ["cond", "body"]} ({
      %a = opset1.Parameter() : tensor<*xf32>
      %m = opset1.Parameter() : tensor<*xf32>
      %c = tf.Less(%a, %m) : tensor<*xi1>
      opset1.Result(%c)
    }, {
      %a = opset1.Parameter() : tensor<*xf32>
      %m = opset1.Parameter() : tensor<*xf32>
      %e = tf.Exp(%a) : tensor<*xf32>
      opset1.Result(%e)
      opset1.Result(%m)
    }) : tensor<*xf32>, tensor<*xf32>
    opset1.Result(%1) {name = "y"}
  }
}

// -----

// The last of three branches is taken by every index the others do not have; a number as condition is true unless it is 0.
// CHECK-LABEL: moir.model @case
// CHECK:         %[[FIRST:.*]] = opset1.Equal(%{{.*}}, %{{.*}}) : tensor<i1>
// CHECK:         opset8.If(%[[FIRST]], %{{.*}}, %{{.*}})
// CHECK:           opset1.Abs
// CHECK:           opset8.If
// CHECK:             opset1.Negative
// CHECK:             opset1.Exp
builtin.module {
  moir.model @case {
    %i = opset1.Parameter() {name = "i"} : tensor<si32>
    %x = opset1.Parameter() {name = "x"} : tensor<f32>
    %y = tf.Case(%i, %x) {graph_attributes = ["branches", "branches", "branches"]} ({
      %a = opset1.Parameter() : tensor<*xf32>
      %b = tf.Abs(%a) : tensor<*xf32>
      opset1.Result(%b)
    }, {
      %a = opset1.Parameter() : tensor<*xf32>
      %b = tf.Neg(%a) : tensor<*xf32>
      opset1.Result(%b)
    }, {
      %a = opset1.Parameter() : tensor<*xf32>
      %b = tf.Exp(%a) : tensor<*xf32>
      opset1.Result(%b)
    }) : tensor<*xf32>
    opset1.Result(%y) {name = "y"}
  }
}
