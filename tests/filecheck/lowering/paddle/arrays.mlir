// RUN: moir-opt %s -p lower-paddle --split-input-file | filecheck %s

// What is written at the length of an array is appended to it.
// CHECK-LABEL: @appended
moir.model @appended {
  %x = opset1.Parameter() {name = "x"} : tensor<2x8xf32>
  %a = paddle.create_array() {shape = [2, 8], dtype = 5, name = "a"} : tensor<*x!moir.dynamic>
  %n = paddle.lod_array_length(%a) {name = "n"} : tensor<*x!moir.dynamic>
  // CHECK: opset1.Concat
  // CHECK-SAME: tensor<1x2x8xf32>
  %b = paddle.write_to_array(%x, %n, %a) {name = "b"} : tensor<*x!moir.dynamic>
  // CHECK: opset1.Transpose
  // CHECK-SAME: tensor<2x1x8xf32>
  %y, %i = paddle.tensor_array_to_tensor(%b) {axis = 1, use_stack = true, name = "y"} : tensor<*x!moir.dynamic>, tensor<*x!moir.dynamic>
  opset1.Result(%y) {name = "y"}
}
