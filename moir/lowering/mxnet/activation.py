"""Activations, Softmax and its variants, and losses, lowered to what they compute in inference.

Source: activation.cc, leaky_relu.cc, softmax*.cc, softmax_output.cc and regression_output.cc of MXNet 1.9.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import normalize_axis
from moir.expansions.functions import operation, selu
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import rank_of_operand
from moir.lowering.mxnet.elementwise import plain_name
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_ACTIVATIONS = ("relu", "sigmoid", "tanh", "softrelu", "softsign", "mish")


@mxnet.lowers("Activation", "_npx_activation")
def activation(node: LoweringNode, op: OpBuilder, x: SSAValue, *, act_type: str) -> SSAValue:
    """mxnet.Activation(x) {act_type = "softrelu"} -> opset4.SoftPlus(x), and so on"""
    if act_type == "log_sigmoid":
        return op.Negative(op.SoftPlus(op.Negative(x)))
    if act_type not in _ACTIVATIONS:
        node.fail(f"act_type {act_type!r} does not exist")
    return operation(op, act_type)(x)


@mxnet.lowers("LeakyReLU", "_npx_leaky_relu")
def leaky_relu(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    slope: float = 0.25,
    act_type: str = "leaky",
    lower_bound: float = 0.125,
    upper_bound: float = 0.334,
) -> Replacement:
    """mxnet.LeakyReLU(x, gamma) {act_type = "leaky", slope = 0.25} -> opset1.PRelu(x, slope), Elu, Selu or Gelu

    In inference the slope of `rrelu` is the middle of its bounds, which is also its second result.
    """
    if act_type == "leaky":
        return [op.PRelu(x, [slope])]
    if act_type == "prelu":
        return [op.PRelu(x, node.operand(1))]
    if act_type == "elu":
        return [op.Elu(x, alpha=slope)]
    if act_type == "selu":
        return [selu(op, x)]
    if act_type == "gelu":
        return [op.Gelu(x, approximation_mode="ERF")]
    if act_type == "rrelu":
        middle = (lower_bound + upper_bound) / 2
        return [op.PRelu(x, [middle]), op.Broadcast(op.constant_like(middle, x), op.ShapeOf(x))]
    return node.fail(f"act_type {act_type!r} does not exist")


@mxnet.lowers("hard_sigmoid")
def hard_sigmoid(op: OpBuilder, x: SSAValue, *, alpha: float = 0.2, beta: float = 0.5) -> SSAValue:
    """mxnet.hard_sigmoid(x) {alpha = 0.2, beta = 0.5} -> opset1.Clamp(alpha · x + beta) {min = 0, max = 1}"""
    scaled = op.Multiply(x, alpha)
    return op.Clamp(op.Add(scaled, beta), min=0.0, max=1.0)


@mxnet.lowers("smooth_l1", "_npx_smooth_l1")
def smooth_l1(op: OpBuilder, x: SSAValue, *, scalar: float = 1.0) -> SSAValue:
    """mxnet.smooth_l1(x) {scalar = s} -> (s x)² / 2 where |x| < 1 / s², elsewhere |x| - 1 / (2 s²)"""
    square = scalar**2
    size = op.Abs(x)
    near = op.Multiply(op.Multiply(x, x), square / 2)
    return op.Select(op.Less(size, 1 / square), near, op.Subtract(size, 0.5 / square))


@mxnet.lowers("softmax", "_npx_softmax", "log_softmax", "_npx_log_softmax", "softmin")
def softmax(
    node: LoweringNode, op: OpBuilder, *, axis: int = -1, temperature: float = 1.0, use_length: bool = False, dtype: Attribute | None = None
) -> SSAValue:
    """mxnet.softmax(x, length) {axis = -1, temperature} -> opset8.Softmax(x / temperature) {axis}

    Likewise log_softmax, and softmin of -x. With lengths, elements beyond them along the axis are ignored, and are 0 in
    the result.
    """
    name, x = plain_name(node.op.KIND), node.operand(0)
    x = op.Negative(x) if name == "softmin" else x
    x = x if temperature == 1 else op.Divide(x, temperature)
    build = op.LogSoftmax if name == "log_softmax" else op.Softmax
    if not use_length:
        result = build(x, axis=axis)
    else:
        rank = rank_of_operand(node)
        axis = normalize_axis(axis, rank)
        positions = op.Range(0, op.Gather(op.ShapeOf(x), axis, 0), 1, output_type=si64)
        shaped = op.Reshape(positions, [-1, *[1] * (rank - 1 - axis)], special_zero=False)
        within = op.Less(shaped, op.convert(op.Unsqueeze(node.operand(1), [axis]), si64))
        result = op.Select(within, build(op.Select(within, x, -np.inf), axis=axis), 0.0)
    return op.convert(result, dtype or node.element(0))


@mxnet.lowers("SoftmaxActivation")
def softmax_activation(op: OpBuilder, x: SSAValue, *, mode: str = "instance") -> SSAValue:
    """mxnet.SoftmaxActivation(x) {mode = "instance"} -> Softmax over the last axis, with mode = channel over axis 1

    MXNet's documentation says that `instance` normalizes a whole sample; that is true for two dimensions only.
    """
    return op.Softmax(x, axis=1 if mode == "channel" else -1)


@mxnet.lowers("SoftmaxOutput", "Softmax")
def softmax_output(node: LoweringNode, op: OpBuilder, *, multi_output: bool = False, preserve_shape: bool = False) -> SSAValue:
    """mxnet.SoftmaxOutput(x, label) -> Softmax over a sample

    With `multi_output` the Softmax is over axis 1, with `preserve_shape` over the last axis.
    """
    if multi_output:
        return op.Softmax(node.operand(0), axis=1)
    return op.Softmax(node.operand(0), axis=-1) if preserve_shape else _over_samples(node, op)


def _over_samples(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Softmax over all elements of a sample, in the shape of the operand."""
    x, rank = node.operand(0), node.rank(0)
    if rank == 2:
        return op.Softmax(x, axis=1)
    flat = op.Softmax(op.Reshape(x, [0, -1], special_zero=True), axis=1)
    return op.Reshape(flat, op.ShapeOf(x), special_zero=False)


@mxnet.lowers("LinearRegressionOutput", "MAERegressionOutput", "SVMOutput")
def regression_output(x: SSAValue) -> SSAValue:
    """mxnet.LinearRegressionOutput(x, label) -> x; likewise MAERegressionOutput and SVMOutput"""
    return x


@mxnet.lowers("LogisticRegressionOutput")
def logistic_regression_output(op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.LogisticRegressionOutput(x, label) -> opset1.Sigmoid(x)"""
    return op.Sigmoid(x)
