// RUN: not moir-opt %s -p lower-paddle --split-input-file 2>&1 | filecheck %s

// The tensor that an iteration writes has as many rows as elements of x are less than the number of the iteration.
// CHECK: paddle.while 'loop': the sizes of the tensors that it writes to an array may differ from iteration to iteration
builtin.module {
  moir.model @changing {
    %x = opset1.Parameter() {name = "x"} : tensor<3x4xf32>
    %n = opset1.Parameter() {name = "n"} : tensor<1xsi64>
    %a = paddle.create_array() {shape = [-1, 2], dtype = 5} : tensor<*x!moir.dynamic>
    %z = opset1.Constant() {value = #moir.data<tensor<1xsi64>, [0]>} : tensor<1xsi64>
    %c = paddle.less_than(%z, %n) : tensor<*x!moir.dynamic>
    %1, %2 = paddle.while(%c, %z, %a, %x, %n) {carried = 2, name = "loop"} ({
      %i = opset1.Parameter() : tensor<*x!moir.dynamic>
      %b = opset1.Parameter() : tensor<*x!moir.dynamic>
      %y = opset1.Parameter() : tensor<3x4xf32>
      %m = opset1.Parameter() : tensor<1xsi64>
      %f = paddle.cast(%i) {out_dtype = 5} : tensor<*x!moir.dynamic>
      %l = paddle.less_than(%y, %f) : tensor<*x!moir.dynamic>
      %w = paddle.where_index(%l) : tensor<*x!moir.dynamic>
      %v = paddle.cast(%w) {out_dtype = 5} : tensor<*x!moir.dynamic>
      %d = paddle.write_to_array(%v, %i, %b) : tensor<*x!moir.dynamic>
      %j = paddle.increment(%i) {step = 1.0} : tensor<*x!moir.dynamic>
      %g = paddle.less_than(%j, %m) : tensor<*x!moir.dynamic>
      opset1.Result(%g)
      opset1.Result(%j)
      opset1.Result(%d)
    }) : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
    %k = paddle.lod_array_length(%2) : tensor<*x!moir.dynamic>
    opset1.Result(%k) {name = "k"}
  }
}
