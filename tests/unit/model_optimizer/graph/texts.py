"""The graph of Model Optimizer's documents about ports: op1 -> op2, op3, op4 (port 1); op3 -> op4 (port 0)."""

FRONT = """
%x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
%w = opset1.Parameter() {name = "w"} : tensor<2x3xf32>
%a, %b = onnx.Custom(%x, %w) {name = "op1", tensor_names = ["t10", "t11"]} : ?, ?
%c = onnx.Relu(%a) {name = "op2", tensor_names = ["t20"]} : ?
%d = onnx.Add(%a, %w) {name = "op3", tensor_names = ["t30"]} : ?
%e = onnx.Mul(%d, %a) {name = "op4", tensor_names = ["t40"]} : ?
opset1.Result(%c) {name = "r1"}
opset1.Result(%e) {name = "r2"}
opset1.Result(%b) {name = "r3"}
"""

MIDDLE = """
%x = opset1.Parameter() {name = "x"} : tensor<2x3xf32>
%w = opset1.Parameter() {name = "w"} : tensor<2x3xf32>
%s = opset1.Constant() {value = #moir.data<tensor<2xsi64>, [0, 1]>, name = "axis"} : tensor<2xsi64>
%a = opset1.Relu(%x) {name = "op1", tensor_names = ["t10"]} : tensor<2x3xf32>
%c = opset1.Relu(%a) {name = "op2", tensor_names = ["t20"]} : tensor<2x3xf32>
%d = opset1.Add(%a, %w) {name = "op3", tensor_names = ["t30"]} : tensor<2x3xf32>
%e = opset1.Multiply(%d, %a) {name = "op4", tensor_names = ["t40"]} : tensor<2x3xf32>
%f = opset1.Transpose(%e, %s) {name = "op5"} : tensor<2x3xf32>
opset1.Result(%c) {name = "r1"}
opset1.Result(%f) {name = "r2"}
"""
