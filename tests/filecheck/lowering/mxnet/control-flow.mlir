// RUN: moir-opt %s -p lower-mxnet --split-input-file | filecheck %s

// CHECK-LABEL: @foreach
moir.model @foreach {
  %x = opset1.Parameter() {name = "x"} : tensor<4x2x3xf32>
  %h = opset1.Parameter() {name = "h"} : tensor<2x3xf32>
  // CHECK: opset1.TensorIterator(%h, %x)
  // CHECK: opset15.Squeeze
  // CHECK: opset1.Add
  // CHECK: tensor<2x3xf32>, tensor<4x2x3xf32>
  %y, %after = mxnet._foreach(%x, %h) {in_data_locs = [0], in_state_locs = [1], num_out_data = 1, name = "loop"} ({
    %d = opset1.Parameter() : tensor<*x!moir.dynamic>
    %s = opset1.Parameter() : tensor<*x!moir.dynamic>
    %sum = mxnet.elemwise_add(%d, %s) {name = "sum"} : tensor<*x!moir.dynamic>
    opset1.Result(%sum)
    opset1.Result(%sum)
  }) : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%after) {name = "after"}
}

// -----

// CHECK-LABEL: @while_loop
moir.model @while_loop {
  %i = opset1.Parameter() {name = "i"} : tensor<1xf32>
  // CHECK: opset1.Less
  // CHECK: opset5.Loop
  // CHECK: tensor<?x1xf32>
  // CHECK: opset1.Concat
  // CHECK: opset8.Slice
  // CHECK: opset1.Reshape
  // CHECK-SAME: tensor<8x1xf32>
  %y, %after = mxnet._while_loop(%i) {func_input_locs = [0], func_var_locs = [0], max_iterations = 8, num_out_data = 1, name = "loop"} ({
    %a = opset1.Parameter() : tensor<*x!moir.dynamic>
    %less = mxnet._lesser_scalar(%a) {scalar = 5.0} : tensor<*x!moir.dynamic>
    opset1.Result(%less)
  }, {
    %a = opset1.Parameter() : tensor<*x!moir.dynamic>
    %next = mxnet._plus_scalar(%a) {scalar = 1.0} : tensor<*x!moir.dynamic>
    opset1.Result(%a)
    opset1.Result(%next)
  }) : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
  opset1.Result(%after) {name = "after"}
}

// -----

// CHECK-LABEL: @cond
moir.model @cond {
  %p = opset1.Parameter() {name = "p"} : tensor<1xf32>
  %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
  // CHECK: opset8.If
  %y = mxnet._cond(%p, %x) {name = "cond"} ({
    %a = opset1.Parameter() : tensor<*x!moir.dynamic>
    %b = opset1.Parameter() : tensor<*x!moir.dynamic>
    opset1.Result(%a)
  }, {
    %a = opset1.Parameter() : tensor<*x!moir.dynamic>
    %b = opset1.Parameter() : tensor<*x!moir.dynamic>
    opset1.Result(%b)
  }, {
    %a = opset1.Parameter() : tensor<*x!moir.dynamic>
    %b = opset1.Parameter() : tensor<*x!moir.dynamic>
    %n = mxnet.negative(%b) : tensor<*x!moir.dynamic>
    opset1.Result(%n)
  }) : tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
