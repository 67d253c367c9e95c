"""Activation functions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

opset.lowers_each(
    {
        "Relu": lambda op, x: op.Relu(x),
        "Sigmoid": lambda op, x: op.Sigmoid(x),
        "SoftPlus": lambda op, x: op.Softplus(x),
        "SoftSign": lambda op, x: op.Softsign(x),
        # min(max(x + 3, 0), 6) / 6
        "HSigmoid": lambda op, x: op.Div(op.Clip(op.Add(x, 3.0), 0.0, 6.0), 6.0),
        "HSwish": lambda op, x: op.Mul(x, op.Div(op.Clip(op.Add(x, 3.0), 0.0, 6.0), 6.0)),
    }
)


@opset.lowers("HSwish", since=14)
def hard_swish(op: OnnxBuilder, x: SSAValue) -> SSAValue:
    """opset4.HSwish(x) -> onnx.HardSwish(x)"""
    return op.HardSwish(x)


@opset.lowers("Mish")
def mish(op: OnnxBuilder, x: SSAValue) -> SSAValue:
    """opset4.Mish(x) -> x · tanh(ln(1 + eˣ)), by onnx.Softplus and onnx.Tanh"""
    return op.Mul(x, op.Tanh(op.Softplus(x)))


@opset.lowers("Mish", since=18)
def mish_18(op: OnnxBuilder, x: SSAValue) -> SSAValue:
    """opset4.Mish(x) -> onnx.Mish(x)"""
    return op.Mish(x)


@opset.lowers("Elu")
def elu(op: OnnxBuilder, x: SSAValue, *, alpha: float) -> SSAValue:
    """opset1.Elu(x) {alpha} -> onnx.Elu(x) {alpha}"""
    return op.Elu(x, alpha=alpha)


@opset.lowers("Gelu")
def gelu(op: OnnxBuilder, x: SSAValue, *, approximation_mode: str = "ERF") -> SSAValue:
    """opset7.Gelu(x) -> x · Φ(x), Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016."""
    if approximation_mode == "ERF":
        return op.Mul(op.Mul(x, 0.5), op.Add(op.Erf(op.Mul(x, 0.7071067811865476)), 1.0))
    cubic = op.Add(x, op.Mul(op.Mul(op.Mul(x, x), x), 0.044715))
    return op.Mul(op.Mul(x, 0.5), op.Add(op.Tanh(op.Mul(cubic, 0.7978845608028654)), 1.0))


@opset.lowers("Gelu", since=20)
def gelu_20(op: OnnxBuilder, x: SSAValue, *, approximation_mode: str = "ERF") -> SSAValue:
    """opset7.Gelu(x) -> onnx.Gelu(x)"""
    return op.Gelu(x, approximate="none" if approximation_mode == "ERF" else "tanh")


@opset.lowers("HardSigmoid")
def hard_sigmoid(node: LoweringNode, op: OnnxBuilder, x: SSAValue, alpha: SSAValue, beta: SSAValue) -> SSAValue:
    """opset1.HardSigmoid(x, alpha, beta) -> max(0, min(1, alpha · x + beta))"""
    values = [node.constant(1), node.constant(2)]
    if values[0] is not None and values[1] is not None:
        return op.HardSigmoid(x, alpha=float(values[0].item()), beta=float(values[1].item()))
    return op.Clip(op.Add(op.Mul(x, alpha), beta), 0.0, 1.0)


@opset.lowers("Selu")
def selu(node: LoweringNode, op: OnnxBuilder, x: SSAValue, alpha: SSAValue, scale: SSAValue) -> SSAValue:
    """opset1.Selu(x, alpha, scale) -> scale · (x where positive, else alpha · (eˣ - 1))"""
    values = [node.constant(1), node.constant(2)]
    if values[0] is not None and values[1] is not None and values[0].size == values[1].size == 1:
        return op.Selu(x, alpha=float(values[0].item()), gamma=float(values[1].item()))
    negative = op.Mul(alpha, op.Sub(op.Exp(op.Min(x, 0.0)), 1.0))
    return op.Mul(scale, op.Where(op.Greater(x, 0.0), x, negative))


@opset.lowers("Swish")
def swish(op: OnnxBuilder, x: SSAValue, beta: SSAValue | None = None) -> SSAValue:
    """opset4.Swish(x, beta) -> x · sigmoid(beta · x)"""
    return op.Mul(x, op.Sigmoid(x if beta is None else op.Mul(x, beta)))


@opset.lowers("PRelu")
def prelu(node: LoweringNode, op: OnnxBuilder, x: SSAValue, slope: SSAValue) -> SSAValue:
    """opset1.PRelu(x, slope) -> onnx.PRelu(x, slope)

    A 1-D slope has an element for each channel of the data, except where the data are 1-D, too.
    """
    rank, of_slope = rank_of(x), node.shape(1)
    if of_slope is not None and len(of_slope) == 1 and of_slope != (1,):
        if rank is None:
            node.fail("the rank of its data is dynamic", hint="give the model's inputs a static rank")
        if rank > 2:
            slope = op.Reshape(slope, [-1, *[1] * (rank - 2)])
    return op.PRelu(x, slope)


@opset.lowers("Softmax")
def softmax(op: OnnxBuilder, x: SSAValue, *, axis: int = 1) -> SSAValue:
    """opset8.Softmax(x) {axis} -> onnx.Softmax(x) {axis}"""
    return op.Softmax(x, axis=axis)


@opset.lowers("LogSoftmax")
def log_softmax(op: OnnxBuilder, x: SSAValue, *, axis: int = 1) -> SSAValue:
    """opset5.LogSoftmax(x) {axis} -> onnx.LogSoftmax(x) {axis}"""
    return op.LogSoftmax(x, axis=axis)
