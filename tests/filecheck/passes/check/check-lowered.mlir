// RUN: not moir-opt %s -p check-lowered 2>&1 | filecheck %s

// Every kind is listed at once, with its count and first nodes.
// CHECK: no lowering for 2 kinds of operation: onnx.Nope ('b'); onnx.com.acme.Custom ('a', 'c', 'd', … 4 in all)
builtin.module {
  moir.model @left {
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %a = onnx.com.acme.Custom(%x) {name = "a"} : tensor<*x!moir.dynamic>
    %b = onnx.Nope(%a) {name = "b"} : tensor<*x!moir.dynamic>
    %c = onnx.com.acme.Custom(%b) {name = "c"} : tensor<*x!moir.dynamic>
    %d = onnx.com.acme.Custom(%c) {name = "d"} : tensor<*x!moir.dynamic>
    %e = onnx.com.acme.Custom(%d) {name = "e"} : tensor<*x!moir.dynamic>
    opset1.Result(%e) {name = "y"}
  }
}
