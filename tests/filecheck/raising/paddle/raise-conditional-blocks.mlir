// RUN: moir-opt %s -p raise-conditional-blocks --split-input-file | filecheck %s

// CHECK-LABEL: @pair
moir.model @pair {
  %c = opset1.Parameter() {name = "c"} : tensor<i1>
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %none = moir.none
  %b = paddle.conditional_block(%c, %none, %x) {earlier = 1, name = "b"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    %r = paddle.relu(%p) {name = "r"} : tensor<*x!moir.dynamic>
    opset1.Result(%r)
  }) : tensor<*x!moir.dynamic>
  %not = paddle.logical_not(%c) {name = "not"} : tensor<*x!moir.dynamic>
  %a = paddle.conditional_block(%not, %none, %x) {earlier = 1, name = "a"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    %r = paddle.tanh(%p) {name = "t"} : tensor<*x!moir.dynamic>
    opset1.Result(%r)
  }) : tensor<*x!moir.dynamic>
  %mask = paddle.cast(%c) {name = "mask", out_dtype = 2} : tensor<*x!moir.dynamic>
  // CHECK: paddle.if(%c, %x, %x)
  // CHECK: paddle.relu
  // CHECK: paddle.tanh
  // CHECK-NOT: paddle.conditional_block
  // CHECK-NOT: paddle.select_input
  %y = paddle.select_input(%mask, %a, %b) {name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}

// -----

// Of which one runs is not known here.
// CHECK-LABEL: @others
moir.model @others {
  %c = opset1.Parameter() {name = "c"} : tensor<i1>
  %d = opset1.Parameter() {name = "d"} : tensor<i1>
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  %none = moir.none
  // CHECK: paddle.conditional_block
  %b = paddle.conditional_block(%c, %none, %x) {earlier = 1, name = "b"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    opset1.Result(%p)
  }) : tensor<*x!moir.dynamic>
  // CHECK: paddle.conditional_block
  %a = paddle.conditional_block(%d, %none, %x) {earlier = 1, name = "a"} ({
    %p = opset1.Parameter() : tensor<2xf32>
    opset1.Result(%p)
  }) : tensor<*x!moir.dynamic>
  // CHECK: paddle.select_input
  %y = paddle.select_input(%c, %a, %b) {name = "y"} : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
