"""Lowerings of ONNX operations: of kinds without a lowering in moir, or in place of moir's own."""

from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.ScaledTanh")
def scaled_tanh(node, op):
    """onnx.com.example.ScaledTanh(x) {alpha, beta} -> alpha * Tanh(beta * x)"""
    beta = node.number("beta", 1.0)
    return op.Multiply(op.Tanh(op.Multiply(node.operand(0), beta)), node.number("alpha", 1.0))
