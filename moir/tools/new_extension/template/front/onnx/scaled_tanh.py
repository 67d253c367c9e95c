"""Lowerings of ONNX operations: of kinds without a lowering in moir, or in place of moir's own."""

from moir.lowering.onnx.table import onnx


@onnx.lowers("com.example.ScaledTanh")
def scaled_tanh(op, x, *, alpha=1.0, beta=1.0):
    """onnx.com.example.ScaledTanh(x) {alpha, beta} -> alpha * Tanh(beta * x)"""
    return op.Multiply(op.Tanh(op.Multiply(x, beta)), alpha)
