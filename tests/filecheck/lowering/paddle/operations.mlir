// RUN: moir-opt %s -p lower-paddle --split-input-file | filecheck %s

// CHECK-LABEL: @bias
moir.model @bias {
  %x = opset1.Parameter() {name = "x"} : tensor<1x3x4x5xf32>
  %b = opset1.Parameter() {name = "b"} : tensor<3xf32>
  // CHECK: opset1.Unsqueeze
  // CHECK-SAME: tensor<3x1x1xf32>
  // CHECK: opset1.Add
  // CHECK-SAME: tensor<1x3x4x5xf32>
  %y = paddle.elementwise_add(%x, %b) {axis = 1, name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// What is not finite is after all bounds.
// CHECK-LABEL: @places
moir.model @places {
  %b = opset1.Parameter() {name = "b"} : tensor<5xf32>
  // CHECK: %[[X:.*]] = opset1.Parameter() {name = "x"}
  %x = opset1.Parameter() {name = "x"} : tensor<3xf32>
  // CHECK: %[[F:.*]] = opset10.IsFinite(%[[X]])
  // CHECK: %[[L:.*]] = opset1.LogicalNot(%[[F]])
  // CHECK: %[[P:.*]] = opset15.SearchSorted(%{{.*}}, %[[X]])
  // CHECK: opset1.Select(%[[L]], %{{.*}}, %[[P]])
  %y = paddle.searchsorted(%b, %x) {name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// What changes nothing is left out.
// CHECK-LABEL: @unchanged
moir.model @unchanged {
  // CHECK: %x = opset1.Parameter
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %one = opset1.Constant() {value = #moir.data<tensor<f32>, [1.0]>} : tensor<f32>
  %y = paddle.scale(%x, %one) {bias = 0.0, name = "y"} : tensor<*x!moir.dynamic>
  // CHECK-NOT: Multiply
  // CHECK: opset1.Result(%x)
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @item
moir.model @item {
  %x = opset1.Parameter() {name = "x"} : tensor<4x5xf32>
  %s = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [-1]>} : tensor<1xsi64>
  %e = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
  // CHECK: opset8.Gather
  // CHECK-SAME: tensor<5xf32>
  %y = paddle.slice(%x, %s, %e) {axes = [0], decrease_axis = [0], name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// CHECK-LABEL: @loop
moir.model @loop {
  %c = opset1.Parameter() {name = "c"} : tensor<1xi1>
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  // CHECK: opset5.Loop
  // CHECK: opset1.Relu
  %y = paddle.while(%c, %x) {carried = 1, name = "loop"} ({
    %p = opset1.Parameter() : tensor<*x!moir.dynamic>
    %r = paddle.relu(%p) {name = "r"} : tensor<*x!moir.dynamic>
    %n = paddle.reduce_mean(%r) {name = "m", reduce_all = true, keep_dim = false} : tensor<*x!moir.dynamic>
    %g = paddle.greater_than(%n, %n) {name = "g"} : tensor<*x!moir.dynamic>
    opset1.Result(%g)
    opset1.Result(%r)
  }) : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
