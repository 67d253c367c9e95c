"""Activation functions.

    %y = onnx.LeakyRelu(%x) {alpha = 0.1}
->  %y = opset1.PRelu(%x, 0.1)
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, REAL_TYPES, dynamic, f16, f32, si32
from moir.dialects.shapes import MAXIMUM_RANK, element_of, normalize_axis, rank_of, shape_of
from moir.errors import InferenceError
from moir.expansions.constant_forms import small_constant
from moir.expansions.extremes import first_extremes
from moir.expansions.functions import operation
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import reshaped_like
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result, broadcast
from moir.rewriting.builder import OpBuilder

LARGEST_EXACT_INTEGER = 2**53
"""The largest integer for which the limits of a Clamp, which are f64, are exact."""


@onnx.lowers("HardSwish", "Mish", "Sigmoid", "Softplus", "Softsign", rank=as_result)
def renamed(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Softplus(x) -> opset4.SoftPlus(x); likewise HardSwish, Mish, Sigmoid and Softsign"""
    return operation(op, node.op.KIND)(x)


onnx.lowers_each(
    {
        "Relu": lambda op, x: op.Relu(x),
        "Swish": lambda op, x, *, alpha=1.0: scaled_swish(op, x, alpha),
        "LeakyRelu": lambda op, x, *, alpha=0.01: leaky(op, x, alpha),
        "ThresholdedRelu": lambda op, x, *, alpha=1.0: op.Select(op.Greater(x, alpha), x, 0),
        "Scale": lambda op, x, *, scale=1.0: op.Multiply(x, scale),
        "Affine": lambda op, x, *, beta=0.0, alpha=1.0: op.Add(op.Multiply(x, alpha), beta),
        "ScaledTanh": lambda op, x, *, alpha=1.0, beta=1.0: op.Multiply(op.Tanh(op.Multiply(x, beta)), alpha),
        "ParametricSoftplus": lambda op, x, *, alpha=1.0, beta=1.0: op.Multiply(op.SoftPlus(op.Multiply(x, beta)), alpha),
    },
    rank=as_result,
)


@onnx.lowers("Elu", rank=as_result)
def elu(op: OpBuilder, x: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """onnx.Elu(x) {alpha} -> opset1.Elu(x) {alpha}"""
    return op.Elu(x, alpha=alpha)


@onnx.lowers("Celu", rank=as_result)
def celu(node: LoweringNode, op: OpBuilder, x_: SSAValue, *, alpha: float = 1.0) -> SSAValue:
    """onnx.Celu(x) {alpha} -> Elu(x / alpha) * alpha, in f32, since quotients and exponentials may exceed f16"""
    if alpha == 1:
        return op.Elu(x_, alpha=1.0)
    if alpha == 0:
        node.fail("alpha is 0")
    x = op.convert(x_, f32) if element_of(x_) == f16 else x_
    # The scaled operand has the opposite sign if alpha is negative, and selects the other branch of Elu; the definition
    # by a maximum and a minimum holds for both signs.
    if alpha < 0:
        negative = op.Multiply(op.Subtract(op.Exp(op.Divide(x, alpha)), 1.0), alpha)
        return op.convert(op.Add(op.Relu(x), op.Minimum(negative, 0.0)), element_of(x_))
    return op.convert(op.Multiply(op.Elu(op.Divide(x, alpha), alpha=1.0), alpha), element_of(x_))


@onnx.lowers("Selu", rank=as_result)
def selu(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.Selu(x) {alpha, gamma} -> opset1.Selu(x, alpha, gamma)"""
    # Before version 6 the defaults have fewer digits.
    defaults = (1.6732631921768188, 1.0507010221481323) if node.version >= 6 else (1.6732, 1.0507)
    alpha, gamma = (node.number(name, default) for name, default in zip(("alpha", "gamma"), defaults, strict=True))
    return op.Selu(x, op.constant_like(alpha, x), op.constant_like(gamma, x))


@onnx.lowers("HardSigmoid", rank=as_result)
def hard_sigmoid(op: OpBuilder, x: SSAValue, *, alpha: float = 0.2, beta: float = 0.5) -> SSAValue:
    """onnx.HardSigmoid(x) {alpha, beta} -> opset1.HardSigmoid(x, alpha, beta)"""
    return op.HardSigmoid(x, op.constant_like(alpha, x), op.constant_like(beta, x))


@onnx.lowers("Gelu", rank=as_result)
def gelu(node: LoweringNode, op: OpBuilder, x: SSAValue, *, approximate: str = "none") -> SSAValue:
    """onnx.Gelu(x) {approximate} -> opset7.Gelu(x) {approximation_mode}"""
    modes = {"none": "ERF", "tanh": "TANH"}
    if approximate not in modes:
        node.fail(f"attribute approximate is {approximate!r}, it should be one of {', '.join(modes)}")
    return op.Gelu(x, approximation_mode=modes[approximate])


def scaled_swish(op: OpBuilder, x: SSAValue, beta: float) -> SSAValue:
    """x · sigmoid(beta · x)"""
    return op.Swish(x) if beta == 1 else op.Swish(x, op.constant_like(beta, x))


def leaky(op: OpBuilder, x: SSAValue, slope: float) -> SSAValue:
    """PRelu of x with a constant slope: x where it is positive, else slope · x."""
    if rank_of(x) == 0:
        # The slope of PRelu is a 1-D tensor, which would broadcast a scalar x to one dimension.
        return op.Select(op.Less(x, 0.0), op.Multiply(x, slope), x)
    return op.PRelu(x, op.constant_like([slope], x))


# Before version 7 it has one slope for each channel, as the operation.
onnx.lowers_each({"PRelu": lambda op, x, slope: op.PRelu(x, slope)}, rank=broadcast)


@onnx.lowers("PRelu", since=7)
def prelu(op: OpBuilder, x: SSAValue, slope: SSAValue) -> SSAValue:
    """onnx.PRelu(x, slope) -> opset1.PRelu(x, slope), with dimensions of 1 before those of the slope

    If the rank is dynamic or 0, and for integers: opset1.Select(x < 0, slope · x, x).
    """
    rank, own = rank_of(x), rank_of(slope)
    array = small_constant(op, slope)
    if element_of(x) in REAL_TYPES and rank != 0:
        if array is not None and array.size == 1:
            return op.PRelu(x, op.constant(array.reshape(1)))
        if own == 1 and rank is not None and rank > 1:
            flat = op.constant(array.reshape(1, -1)) if array is not None else op.Unsqueeze(slope, [0])
            return op.PRelu(x, flat)
        if own is not None and own > 1 and rank is not None:
            return op.PRelu(x, slope)
    return op.Select(op.Less(x, 0), op.Multiply(slope, x), x)


@onnx.lowers("Shrink")
def shrink(op: OpBuilder, input: SSAValue, *, lambd: float = 0.5, bias: float = 0.0) -> SSAValue:
    """onnx.Shrink(x) {lambd, bias} -> Select(x < -lambd, x + bias, Select(x > lambd, x - bias, 0))"""
    x = op.convert(input, f32) if element_of(input) in INTEGER_TYPES else input
    if bias == 0 and lambd >= 0:
        result = op.Select(op.Greater(op.Abs(x), lambd), x, 0)
    else:
        above = op.Select(op.Greater(x, lambd), op.Subtract(x, bias), 0)
        result = op.Select(op.Less(x, -lambd), op.Add(x, bias), above)
    # By way of i32 negative numbers wrap around.
    return op.convert(op.convert(result, si32), element_of(input)) if x is not input else result


@onnx.lowers("Clip", rank=as_result)
def clip_to_attributes(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.Clip(input) {min, max} -> opset1.Clamp(input) {min, max}"""
    low = np.asarray(node.number("min")) if node.has("min") else None
    high = np.asarray(node.number("max")) if node.has("max") else None
    return _clamped(op, input, low, high)


@onnx.lowers("Clip", since=11)
def clip(node: LoweringNode, op: OpBuilder, input: SSAValue, min: SSAValue | None = None, max: SSAValue | None = None) -> SSAValue:
    """onnx.Clip(x, min, max)
    -> opset1.Clamp(x) {min, max}, or Minimum(Maximum(x, min), max) if the limits are not constant

    Where a limit is absent, infinities remain, although ONNX replaces them by the largest number: so Clip(x, 0) is
    Relu.
    """
    x = input
    low_array, high_array = node.constant(1), node.constant(2)
    if (min is None or low_array is not None) and (max is None or high_array is not None):
        return _clamped(op, x, low_array, high_array)
    # A limit may have shape [1], which would broadcast a scalar x to one dimension. x is the second operand, since the
    # runtime may drop NaN of the first one.
    if min is not None:
        x = op.Maximum(min if shape_of(min) in ((), None) else op.Squeeze(min), x)
    if max is not None:
        x = op.Minimum(max if shape_of(max) in ((), None) else op.Squeeze(max), x)
    return x


def _clamped(op: OpBuilder, x: SSAValue, low: np.ndarray | None, high: np.ndarray | None) -> SSAValue:
    """x clamped to `low` and `high`, either of which may be None. Raises InferenceError for a limit of several
    elements.
    """
    for limit in (low, high):
        if limit is not None and limit.size != 1:
            raise InferenceError(f"a limit has {limit.size} elements, not 1")
    if low is not None and high is not None:
        smallest, largest = float(low.reshape(())), float(high.reshape(()))
        exact = element_of(x) not in INTEGER_TYPES or max(abs(smallest), abs(largest)) <= LARGEST_EXACT_INTEGER
        if exact and smallest <= largest and max(abs(smallest), abs(largest)) < float("inf"):
            return op.Clamp(x, min=smallest, max=largest)
    if low is not None:
        x = op.Maximum(x, _limit(op, x, low))
    if high is not None:
        x = op.Minimum(x, _limit(op, x, high))
    return x


def _limit(op: OpBuilder, x: SSAValue, limit: np.ndarray) -> SSAValue:
    value = limit.reshape(())
    return op.constant_like(value.item() if element_of(x) is dynamic else value, x)


@onnx.lowers("Softmax", "LogSoftmax", since=13, rank=as_result)
def softmax(node: LoweringNode, op: OpBuilder, input: SSAValue, *, axis: int = -1) -> SSAValue:
    """onnx.Softmax(x) {axis} -> opset8.Softmax(x) {axis}; likewise LogSoftmax"""
    return getattr(op, node.op.KIND)(input, axis=axis)


@onnx.lowers("Softmax", "LogSoftmax")
def flattening_softmax(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.Softmax(input) {axis}, over all dimensions from the axis on; likewise LogSoftmax
    -> Reshape, opset8.Softmax, Reshape; opset8.Softmax alone if the axis is the last one
    """
    return flattened(node, op, input, lambda x, axis: getattr(op, node.op.KIND)(x, axis=axis))


def flattened(node: LoweringNode, op: OpBuilder, x: SSAValue, compute: Callable[[SSAValue, int], SSAValue]) -> SSAValue:
    """The result of `compute` for an operation before version 13, which merges all dimensions from the axis on into
    one.

    x is reshaped so, passed to `compute` with the axis, and the result is reshaped like x.
    """
    axis = node.integer("axis", 1)
    axis = normalize_axis(axis, MAXIMUM_RANK if axis >= 0 and node.rank(0) is None else node.known_rank(0))
    if rank_of(x) is not None and axis == node.known_rank(0) - 1:
        return compute(x, axis)
    flat = op.Reshape(x, [*(0,) * axis, -1], special_zero=axis > 0)
    return reshaped_like(op, compute(flat, axis), x, kept=axis)


@onnx.lowers("Hardmax", since=13)
def hardmax(op: OpBuilder, input: SSAValue, *, axis: int = -1) -> SSAValue:
    """onnx.Hardmax(x) {axis} -> OneHot(TopK(x, 1))"""
    return _one_hot_maximum(op, input, axis)


@onnx.lowers("Hardmax")
def flattening_hardmax(node: LoweringNode, op: OpBuilder, input: SSAValue) -> SSAValue:
    """onnx.Hardmax(input) {axis}, over all dimensions from the axis on -> Reshape, TopK, OneHot, Reshape"""
    return flattened(node, op, input, lambda x, axis: _one_hot_maximum(op, x, axis))


def _one_hot_maximum(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """A tensor in the shape of x with 1 at the first largest element along an axis, 0 elsewhere."""
    _, top = first_extremes(op, x, axis, "max")
    one, zero = op.constant_like(1, x), op.constant_like(0, x)
    return op.OneHot(op.Squeeze(top, [axis]), dimension_value(op, x, axis), one, zero, axis=axis)
