"""Elementwise operations: with constants as attributes, with any number of operands, or with operands along
channels.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from xdsl.ir import SSAValue

from moir.expansions.constant_forms import along_channels
from moir.expansions.formulas import FORMULAS
from moir.expansions.functions import operation, power_of_linear, weighted
from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder

BINARY = (
    *("sum", "add", "sub", "mul", "prod", "div", "max", "min", "pow", "floor_mod", "squared_diff"),
    *("less", "less_equal", "greater", "greater_equal", "equal", "not_equal", "logical_and", "logical_or", "logical_xor"),
)
"""The values of the attribute `operation` of an Eltwise."""

COMPARISONS = frozenset(("less", "less_equal", "greater", "greater_equal", "equal", "not_equal"))

INTERNAL = ("Sub", "Minus", "Mul", "Div", "Add", "Negative", "Neg")
"""Kinds that have no `type` when an extension creates them."""

ELEMENTWISE = (
    *("Add", "Sub", "Minus", "Mul", "Div", "Maximum", "Minimum", "SquaredDifference", "Mod", "FloorMod", "Pow"),
    *("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "LogicalAnd", "LogicalOr", "LogicalXor"),
)
"""Kinds of two operands, whose attribute `axis` aligns the second one with the first."""


@lowers("Power", "AttributedPower")
def power(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Power(x) {scale, shift, power} -> (scale * x + shift) ^ power; with two inputs it is opset1.Power."""
    value = node.operand(0)
    if node.optional(1) is not None:
        return op.Power(value, node.operand(1))
    return power_of_linear(op, value, node.number("scale", 1.0), node.number("shift", 0.0), node.number("power", 1.0))


@lowers("Eltwise", "EltwiseN", "AddN")
def eltwise(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Eltwise(a, b, …) {operation} -> operation(operation(a, b), …); EltwiseN and AddN likewise, by default a sum"""
    kind = node.text("operation", "sum")
    if kind not in BINARY:
        node.fail(f"its operation {kind!r} is not known", hint=f"operations are {', '.join(BINARY)}")
    operands = node.operands
    if not operands:
        node.fail("it has no inputs")
    coefficients = node.first("coeff", "coeffs")
    if coefficients is not None and kind == "sum" and len(coefficients):
        factors = node.numbers("coeff" if node.has("coeff") else "coeffs")
        if len(factors) != len(operands):
            node.fail(f"it has {len(factors)} coefficients for {len(operands)} inputs")
        operands = weighted(op, operands, factors)
    if len(operands) > 2 and kind in COMPARISONS:
        node.fail(f"{kind} of {len(operands)} inputs has no meaning")
    if (axis := node.get("axis")) is not None:
        operands = [operands[0], *(_aligned(node, op, value, operands[0], int(axis)) for value in operands[1:])]
    return reduce(operation(op, kind), operands)


def _aligned(node: MoLoweringNode, op: OpBuilder, value: SSAValue, data: SSAValue, axis: int) -> SSAValue:
    """Insert dimensions of 1 into a value of a lower rank than the data, so that its first axis is aligned to `axis` of
    the data; a value that needs none, and a scalar, are unchanged.
    """
    rank, missing = node.rank_of_value(data), node.rank_of_value(data) - node.rank_of_value(value)
    after = missing - axis % max(rank, 1)
    if missing <= 0 or after <= 0 or node.rank_of_value(value) == 0:
        return value
    return op.Unsqueeze(value, list(range(rank - missing, rank - missing + after)))


@lowers(*dict.fromkeys((*INTERNAL, *ELEMENTWISE)))
def internal(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Sub(a, b) without a type -> opset1.Subtract(a, b); likewise the other elementwise operations

    With `axis`, b is reshaped so that its first axis is the given one of a: mo.Add(a, b) {axis = 1} for a of four axes
    and b of one -> opset1.Add(a, opset1.Unsqueeze(b, [1, 2])).
    """
    if (axis := node.get("axis")) is not None and node.kind in ELEMENTWISE:
        data, *others = node.operands
        return operation(op, node.kind)(data, *(_aligned(node, op, value, data, int(axis)) for value in others))
    if node.type is not None or node.kind not in INTERNAL:
        return NotImplemented
    return operation(op, node.kind)(*node.operands)


def for_channels(node: MoLoweringNode, op: OpBuilder, value: SSAValue, data: SSAValue) -> SSAValue:
    """A value [C], reshaped to broadcast along the channels of data."""
    rank = node.rank_of_value(data)
    if node.rank_of_value(value) != 1 or node.is_channel_last or rank <= 2:
        return value
    return along_channels(op, value, rank - 2)


@lowers("ScaleShift", "BiasAdd")
def scale_shift(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ScaleShift(x, scale, shift) -> x * scale + shift along the channels; mo.BiasAdd(x, shift) has no scale."""
    data = value = node.operand(0)
    others = [node.optional(1), node.optional(2)]
    if node.kind == "BiasAdd":
        others = [None, node.operand(1)]
    scale, shift = others
    if scale is not None:
        value = op.Multiply(value, for_channels(node, op, scale, data))
    return value if shift is None else op.Add(value, for_channels(node, op, shift, data))


@lowers("Clamp")
def clamp(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Clamp(x, min, max) -> opset1.Minimum(opset1.Maximum(x, min), max); with attributes it is opset1.Clamp."""
    low, high = node.optional(1), node.optional(2)
    if low is None and high is None:
        return NotImplemented
    value = node.operand(0)
    if low is not None:
        value = op.Maximum(value, low)
    return value if high is None else op.Minimum(value, high)


@lowers("LeakyReLU", "ReLU")
def leaky_relu(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.LeakyReLU(x) {negative_slope} -> opset1.PRelu(x, slope)"""
    slope = node.number("negative_slope", 0.0)
    return op.PRelu(node.operand(0), op.constant_like([slope], node.operand(0))) if slope else op.Relu(node.operand(0))


@lowers("HardSigmoid")
def hard_sigmoid(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.HardSigmoid(x) {alpha, beta} -> opset1.HardSigmoid(x, alpha, beta)"""
    if node.optional(1) is not None:
        return NotImplemented
    value = node.operand(0)
    alpha, beta = (op.constant_like(node.number(name, default), value) for name, default in (("alpha", 0.2), ("beta", 0.5)))
    return op.HardSigmoid(value, alpha, beta)


@lowers("ReLU6", "Square", "Rsqrt", "Reciprocal", "Log1p")
def formula(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.ReLU6(x) -> opset1.Clamp(x) {min = 0, max = 6}; likewise Square, Rsqrt, Reciprocal and Log1p by their
    formulas
    """
    return FORMULAS[node.kind.lower()](op, node.operand(0))


_ACTIVATIONS = ("tanh", "sigmoid", "relu", "relu6", "exp", "not")
"""The values of the attribute `operation` of an Activation, besides `elu`."""


@lowers("Activation")
def activation(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Activation(x) {operation = "tanh"} -> opset1.Tanh(x), likewise other functions, as releases until 2018 had it

    Raises ConversionError for an unknown `operation`.
    """
    kind = node.text("operation")
    if kind == "elu":
        return op.Elu(node.operand(0), alpha=node.number("alpha", 1.0))
    if kind not in _ACTIVATIONS:
        node.fail(f"its operation {kind!r} is not one of elu, {', '.join(_ACTIVATIONS)}")
    return FORMULAS[kind](op, node.operand(0)) if kind in FORMULAS else operation(op, kind)(node.operand(0))


@lowers("SoftMax", "Softmax")
def softmax(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.SoftMax(x) {axis} -> opset8.Softmax(x) {axis}, which allows a negative axis, unlike opset1.Softmax"""
    if node.type is not None and node.integer("axis", 1) >= 0:
        return NotImplemented
    return op["opset8.Softmax"](node.operand(0), axis=node.integer("axis", 1))


@lowers("SoftMaxONNX", "LogSoftmaxONNX")
def coerced_softmax(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.SoftMaxONNX(x) {axis} -> opset8.Softmax over all axes from the given one on, as in ONNX before version 13;
    LogSoftmaxONNX likewise
    """
    data, axis = node.operand(0), node.integer("axis", 1)
    rank = node.rank_of_value(data)
    operation = op.LogSoftmax if node.kind == "LogSoftmaxONNX" else op["opset8.Softmax"]
    if axis % max(rank, 1) == rank - 1:
        return operation(data, axis=-1)
    flat = op.Reshape(data, [0] * (axis % rank) + [-1], special_zero=True)
    return op.Reshape(operation(flat, axis=-1), op.ShapeOf(data), special_zero=False)
