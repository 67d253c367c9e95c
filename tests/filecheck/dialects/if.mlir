// RUN: moir-opt %s | moir-opt | filecheck %s
// RUN: moir-opt %s -t ir | filecheck %s --check-prefix=XML

builtin.module {
  moir.model @branches {
    %c = opset1.Parameter() {name = "c"} : tensor<i1>
    %x = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %y = opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
      %p = opset1.Parameter() {name = "p"} : tensor<2xf32>
      %r = opset1.Relu(%p) {name = "r"} : tensor<2xf32>
      opset1.Result(%r) {name = "o"}
    }, {
      %p = opset1.Parameter() {name = "p"} : tensor<2xf32>
      opset1.Result(%p) {name = "o"}
    }) : tensor<2xf32>
    opset1.Result(%y) {name = "y"}
  }
}

// CHECK:      opset8.If(%c, %x) {then_inputs = [1], else_inputs = [1], name = "if"} ({
// CHECK-NEXT:   opset1.Parameter() {name = "p"} : tensor<2xf32>
// CHECK-NEXT:   opset1.Relu
// CHECK-NEXT:   opset1.Result
// CHECK-NEXT: }, {
// CHECK-NEXT:   opset1.Parameter
// CHECK-NEXT:   opset1.Result
// CHECK-NEXT: }) : tensor<2xf32>

// XML: <layer id="2" name="if" type="If" version="opset8">
// XML: <then_port_map>
// XML: <else_body>
