"""Lowering of the `onnx` dialect, one file per operation family.

    %y = onnx.Elu(%x) {alpha = 1.0, name = "act"} : tensor<*x!moir.dynamic>
->  %y = opset1.Elu(%x) {alpha = 1.0, name = "act"} : tensor<1x8xf32>
"""
