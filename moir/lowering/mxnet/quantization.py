"""Quantized operations, lowered to floating-point arithmetic on the dequantized values.

    q, low, high = mxnet._contrib_quantize_v2(x) {min_calib_range, max_calib_range}
->  y = opset1.FakeQuantize(x, -128 / 127.5 · T, 127 / 127.5 · T, …) {levels = 256}, T the larger of |low| and |high|

A quantized operand comes with the limits of its range, which define the number that each integer stands for: T
corresponds to the integer 127.5 in i8, 255.5 in u8 and 2³¹ in i32. If only quantized operations use a result, it is
lowered to the real number, rounded as the integer would be, so that a target can compute with integers; other users get
the integer itself.

The limits of a result are computed, too. The roundings within an operation (of a bias, or of weights that the
operation quantizes itself) are not reproduced.

Source: contrib/quantize_v2-inl.h, contrib/quantization_utils.h and quantization/ of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si8, si32, ui8
from moir.dialects.framework import FrameworkOp
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import (
    NumberRange,
    Parameters,
    clamped,
    dequantized,
    fake_quantized,
    half_away_from_zero,
    magnitude,
    number_range,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.control_flow.branches import inlined
from moir.lowering.mxnet.convolution import convolved
from moir.lowering.mxnet.matrix import connected
from moir.lowering.mxnet.pooling import pooled
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_SCALES: dict[Attribute, float] = {si8: 127.5, ui8: 255.5, si32: 2.0**31}
"""For each element type, the integer that represents the limit of the range."""

_PRODUCT_SCALE = 127.0
"""The integer that represents the limit of each factor where MXNet computes the range of a product, whatever the
element types.
"""

_TYPES = "element types of quantized values"


def _with_values(node: LoweringNode, values: Sequence[SSAValue]) -> LoweringNode:
    """A node that behaves as `node` with `values` as its operands."""
    return LoweringNode(node.op, node.version, node.run, values)


def _type_of(node: LoweringNode, value: SSAValue) -> Attribute:
    """The element type that a quantized value has in MXNet. Raises ConversionError for a type that is not quantized."""
    types = node.run.state(_TYPES, dict[SSAValue, Attribute])
    element = types.get(value, element_of(value))
    if element not in _SCALES:
        node.fail(f"an operand of element type {element} is not quantized")
    return element


def _limit(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """The larger absolute value, as a scalar, of the two limits of a range, the operands `index` and `index` + 1."""
    return op.Reshape(magnitude(op, NumberRange(node.operand(index), node.operand(index + 1))), [], special_zero=False)


def _parameters(op: OpBuilder, limit: SSAValue, type_: Attribute, scale: float | None = None) -> Parameters:
    """Scale and zero point of a quantized type whose integer `scale` represents `limit`; by default the integer in
    `_SCALES`.
    """
    return Quantization(op.Divide(limit, scale or _SCALES[type_]), None, IntegerRange.of(type_))


def _real(node: LoweringNode, op: OpBuilder, index: int, limits: int) -> SSAValue:
    """The real numbers that the quantized operand `index` stands for; operands `limits` and `limits` + 1 are the limits
    of its range.
    """
    value = node.operand(index)
    type_ = _type_of(node, value)
    if element_of(value) == f32:
        return value
    return dequantized(op, value, _parameters(op, _limit(node, op, limits), type_))


def _is_inner(node: LoweringNode) -> bool:
    """Whether all users of a node's first result are quantized operations."""
    users = [use.operation for use in node.op.results[0].uses]
    return all(isinstance(user, FrameworkOp) and mxnet.file(user.KIND) == "quantization" for user in users)


def _result(
    node: LoweringNode,
    op: OpBuilder,
    value: SSAValue,
    limit: SSAValue,
    type_: Attribute,
    ends: Sequence[SSAValue] = (),
    is_rounded: bool = False,
) -> Replacement:
    """The results of a quantized operation: its value and the limits of its range.

    Args:
        node: the operation.
        op: the builder.
        value: the real numbers.
        limit: the limit T of the range.
        type_: the element type in MXNet.
        ends: the limits that MXNet returns; by default -T (or 0) and T.
        is_rounded: whether the real numbers are already rounded to those that integers represent.
    """
    if not _is_inner(node):
        integers = op.Multiply(op.Divide(value, limit), _SCALES[type_])
        rounded = half_away_from_zero(op, integers)
        value = rounded if type_ == si32 else clamped(op, rounded, IntegerRange.of(type_))
        value = op.convert(value, type_)
    elif type_ != si32 and not is_rounded:
        value = _rounded(op, value, limit, type_)
    node.run.state(_TYPES, dict[SSAValue, Attribute])[value] = type_
    ends = ends or (op.constant(0.0) if type_ == ui8 else op.Negative(limit), limit)
    return [value, *(op.Reshape(each, op.constant([1]), special_zero=False) for each in ends)]


def _rounded(op: OpBuilder, value: SSAValue, limit: SSAValue, type_: Attribute, scale: float | None = None) -> SSAValue:
    """Real numbers rounded to the values of quantized integers of a type, in a range up to `limit`.

    `scale` is the integer that represents the limit while rounding; by default the one of the type.
    """
    after, before = _parameters(op, limit, type_), _parameters(op, limit, type_, scale)
    if op.known.constant(limit) is not None:
        return fake_quantized(op, value, number_range(op, before), number_range(op, after), after.range)
    integers = clamped(op, half_away_from_zero(op, op.Divide(value, before.scale)), after.range)
    return op.Multiply(integers, after.scale)


def _calibrated(node: LoweringNode) -> tuple[float, float] | None:
    """The range that calibration wrote to the attributes; None if there is none."""
    if not (node.has("min_calib_range") and node.has("max_calib_range")):
        return None
    return node.number("min_calib_range"), node.number("max_calib_range")


def _to_range(node: LoweringNode, op: OpBuilder, value: SSAValue, is_rounded_finer: bool = True) -> Replacement:
    """Real numbers quantized to the calibrated range, or to the range of the data if there is none.

    `is_rounded_finer`: whether values are rounded with the scale of the result (`_SCALES`) instead of the scale at
    which the limit is the largest integer. Raises ConversionError for an unknown `out_type`.
    """
    wanted, limits = node.text("out_type", "int8"), _calibrated(node)
    if wanted not in ("auto", "int8", "uint8"):
        node.fail(f"out_type {wanted!r} does not exist")
    is_unsigned = wanted == "uint8" or (wanted == "auto" and limits is not None and limits[0] >= 0)
    if limits is not None:
        limit = op.constant(max(abs(each) for each in limits))
    else:
        limit = op.ReduceMax(op.Abs(value), list(range(rank_of(value) or 0)))
    ends = [op.constant(each) for each in limits] if limits is not None and is_unsigned else []
    return _in_range(node, op, value, limit, ui8 if is_unsigned else si8, ends, is_rounded_finer)


def _in_range(
    node: LoweringNode, op: OpBuilder, value: SSAValue, limit: SSAValue, type_: Attribute, ends: Sequence[SSAValue], is_rounded_finer: bool
) -> Replacement:
    """The integers to which `_to_range` quantizes a value, and the limits of their range.

    `limit` is the largest absolute value of the range.
    """
    if is_rounded_finer:
        return _result(node, op, value, limit, type_, ends)
    return _result(node, op, _rounded(op, value, limit, type_, float(IntegerRange.of(type_).highest)), limit, type_, ends, is_rounded=True)


@mxnet.lowers("_contrib_quantize_v2")
def quantize_v2(node: LoweringNode, op: OpBuilder, x: SSAValue) -> Replacement:
    """mxnet._contrib_quantize_v2(x) {min_calib_range, max_calib_range, out_type = "int8"} -> opset1.FakeQuantize(x)"""
    return _to_range(node, op, x)


@mxnet.lowers("_contrib_quantize")
def quantize(node: LoweringNode, op: OpBuilder, x: SSAValue, low_: SSAValue, _high: SSAValue, *, out_type: str = "uint8") -> Replacement:
    """mxnet._contrib_quantize(x, low, high) {out_type = "uint8"} -> opset1.FakeQuantize(x)"""
    if out_type not in ("int8", "uint8"):
        node.fail(f"out_type {out_type!r} does not exist")
    low = op.known.constant(low_)
    if out_type == "uint8" and (low is None or low.min() < 0):
        node.fail("unsigned integers of a range that does not begin at 0 are not supported", hint="quantize it with out_type = int8")
    type_, limit = si8 if out_type == "int8" else ui8, _limit(node, op, 1)
    return _in_range(node, op, x, limit, type_, (), is_rounded_finer=False)


@mxnet.lowers("_contrib_dequantize")
def dequantize(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet._contrib_dequantize(q, low, high) -> the real numbers"""
    return _real(node, op, 0, 1)


@mxnet.lowers("_contrib_requantize")
def requantize(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_requantize(q, low, high) {min_calib_range, max_calib_range} -> opset1.FakeQuantize"""
    return _to_range(node, op, _real(node, op, 0, 1), is_rounded_finer=False)


def _product(node: LoweringNode, op: OpBuilder, value: SSAValue, first: int) -> tuple[SSAValue, SSAValue]:
    """A sum of products in the form of MXNet's i32 result, and the limit of its range.

    The limits of the factors' ranges are the operands from `first` on.
    """
    limits = [_limit(node, op, index) for index in (first, first + 2)]
    scale = _SCALES[_type_of(node, node.operand(0))] * _SCALES[_type_of(node, node.operand(1))]
    limit = op.Multiply(op.Multiply(*limits), _SCALES[si32] / _PRODUCT_SCALE**2)
    return op.Multiply(value, scale / _PRODUCT_SCALE**2), limit


def _weighted(node: LoweringNode, op: OpBuilder) -> tuple[list[SSAValue], int]:
    """The data, weights and bias of a convolution or matrix product as real numbers, and the index of the first operand
    that is a limit.
    """
    first = 2 if node.flag("no_bias") else 3
    return [_real(node, op, index, first + 2 * index) for index in range(first)], first


@mxnet.lowers("_contrib_quantized_conv")
def quantized_convolution(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_quantized_conv(x, w, b, limits…) -> opset1.Convolution of real numbers, plus the bias"""
    values, first = _weighted(node, op)
    if first == 3:
        # MXNet multiplies the bias by another scale than the products.
        product, _ = _product(node, op, op.constant(1.0), first)
        values[2] = op.Divide(op.Multiply(values[2], _SCALES[si8] / _PRODUCT_SCALE), product)
    product, limit = _product(node, op, convolved(_with_values(node, values), op), first)
    return _result(node, op, product, limit, si32)


@mxnet.lowers("_contrib_quantized_fully_connected")
def quantized_fully_connected(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_quantized_fully_connected(x, w, b, limits…) -> opset1.MatMul of real numbers, plus the bias"""
    values, first = _weighted(node, op)
    product, limit = _product(node, op, connected(_with_values(node, values), op), first)
    return _result(node, op, product, limit, si32)


@mxnet.lowers("_contrib_quantized_pooling")
def quantized_pooling(node: LoweringNode, op: OpBuilder, *, pool_type: str = "max") -> Replacement:
    """mxnet._contrib_quantized_pooling(q, low, high) -> Pooling of real numbers; averages are rounded"""
    limit, type_ = _limit(node, op, 1), _type_of(node, node.operand(0))
    value = pooled(_with_values(node, [_real(node, op, 0, 1)]), op)
    return _result(node, op, value, limit, type_, node.operands[1:3], is_rounded=pool_type == "max")


@mxnet.lowers("_contrib_quantized_act")
def quantized_activation(node: LoweringNode, op: OpBuilder, *, act_type: str) -> Replacement:
    """mxnet._contrib_quantized_act(q, low, high) {act_type = "relu"} -> opset1.Relu of real numbers"""
    if act_type != "relu":
        node.fail(f"act_type {act_type!r} of integers does not exist")
    limit, type_ = _limit(node, op, 1), _type_of(node, node.operand(0))
    return _result(node, op, op.Relu(_real(node, op, 0, 1)), limit, type_, node.operands[1:3], is_rounded=True)


@mxnet.lowers("_contrib_quantized_flatten")
def quantized_flatten(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_quantized_flatten(q, low, high) -> opset1.Reshape(q, [0, -1])"""
    limit, type_ = _limit(node, op, 1), _type_of(node, node.operand(0))
    flat = op.Reshape(_real(node, op, 0, 1), [0, -1], special_zero=True)
    return _result(node, op, flat, limit, type_, node.operands[1:3], is_rounded=True)


@mxnet.lowers("_contrib_quantized_concat")
def quantized_concat(node: LoweringNode, op: OpBuilder, *, dim: int = 1) -> Replacement:
    """mxnet._contrib_quantized_concat(q…, low, high of each) {dim = 1} -> opset1.Concat in the widest range"""
    count = len(node.op.operands) // 3
    values = [_real(node, op, index, count + 2 * index) for index in range(count)]
    limits = [_limit(node, op, count + 2 * index) for index in range(count)]
    types = [_type_of(node, node.operand(index)) for index in range(count)]
    concatenated = op.Concat(*values, axis=dim)
    return _result(node, op, concatenated, reduce(op.Maximum, limits), ui8 if set(types) == {ui8} else si8)


@mxnet.lowers("_contrib_quantized_elemwise_add")
def quantized_add(node: LoweringNode, op: OpBuilder) -> Replacement:
    """mxnet._contrib_quantized_elemwise_add(a, b, limits…) -> opset1.Add of real numbers, in the calibrated range"""
    total = op.Add(_real(node, op, 0, 2), _real(node, op, 1, 4))
    return _combined(node, op, total, op.Add(*(_limit(node, op, index) for index in (2, 4))))


@mxnet.lowers("_contrib_quantized_elemwise_mul")
def quantized_multiply(node: LoweringNode, op: OpBuilder, *, enable_float_output: bool = False) -> Replacement:
    """mxnet._contrib_quantized_elemwise_mul(a, b, limits…) -> opset1.Multiply, in the calibrated range"""
    product = op.Multiply(_real(node, op, 0, 2), _real(node, op, 1, 4))
    if enable_float_output:
        return [product]
    return _combined(node, op, *_product(node, op, product, 2))


def _combined(node: LoweringNode, op: OpBuilder, value: SSAValue, limit: SSAValue) -> Replacement:
    """The results of a quantized sum or product: quantized to the calibrated range, or without calibration as i32 with
    the range `limit`.
    """
    if (limits := _calibrated(node)) is None:
        return _result(node, op, value, limit, si32)
    types = {_type_of(node, node.operand(index)) for index in (0, 1)}
    ends = [op.constant(each) for each in limits]
    return _result(node, op, value, op.constant(max(map(abs, limits))), ui8 if types == {ui8} else si8, ends)


@mxnet.lowers("_contrib_quantized_batch_norm")
def quantized_batch_norm(
    node: LoweringNode,
    op: OpBuilder,
    _q: SSAValue,
    gamma: SSAValue,
    beta: SSAValue,
    mean: SSAValue,
    variance: SSAValue,
    *,
    fix_gamma: bool = True,
    axis: int = 1,
    eps: float = 1e-3,
) -> Replacement:
    """mxnet._contrib_quantized_batch_norm(q, gamma, beta, mean, variance, low, high) -> opset5.BatchNormInference"""
    limits = _calibrated(node)
    if limits is None or axis != 1:
        node.fail("it needs a calibrated range and channels along axis 1")
    if fix_gamma:
        gamma = op.Broadcast(op.constant_like(1.0, gamma), op.ShapeOf(gamma))
    result = op.BatchNormInference(_real(node, op, 0, 5), gamma, beta, mean, variance, epsilon=eps)
    return _result(node, op, result, op.constant(max(map(abs, limits))), si8, [op.constant(each) for each in limits])


@mxnet.lowers("_contrib_quantized_embedding")
def quantized_embedding(node: LoweringNode, op: OpBuilder, *, input_dim: int) -> Replacement:
    """mxnet._contrib_quantized_embedding(indices, w, low, high) {input_dim} -> opset8.Gather(w, indices, 0)"""
    indices = op.Maximum(op.Minimum(op.convert(node.operand(0), si32), input_dim - 1), 0)
    limit, type_ = _limit(node, op, 2), _type_of(node, node.operand(1))
    return _result(node, op, op.Gather(_real(node, op, 1, 2), indices, 0), limit, type_, node.operands[2:4], is_rounded=True)


@mxnet.lowers("_sg_mkldnn_conv", "_sg_mkldnn_fully_connected")
def fused(
    node: LoweringNode,
    op: OpBuilder,
    *,
    quantized_: bool = False,
    enable_float_output: bool = False,
    with_act: bool = False,
    with_relu: bool = False,
) -> Replacement:
    """mxnet._sg_mkldnn_conv(operands…, limits…) with the graph of the operations that oneDNN fuses -> the operations
    of that graph

    The graph computes with real numbers, also for quantized data. The result is quantized to the calibrated range;
    without such a range it is i32. With enable_float_output it is a float.
    """
    if len(node.op.regions) != 1:
        node.fail("it has no graph")
    values = [node.operand(index) for index in range(len(node.op.operands))]
    if not quantized_:
        return list(inlined(node, op, node.op.regions[0].clone(), values))
    types = node.run.state(_TYPES, dict[SSAValue, Attribute])
    quantized = [index for index, value in enumerate(values) if types.get(value, element_of(value)) in _SCALES]
    first = len(values) - 2 * len(quantized)
    for position, index in enumerate(quantized):
        values[index] = _real(node, op, index, first + 2 * position)
    (result,) = inlined(node, op, node.op.regions[0].clone(), values)
    if enable_float_output or node.result_count == 1:
        return [result]
    limits = _calibrated(node)
    if limits is None:
        limit = op.Maximum(op.ReduceMax(op.Abs(result), list(range(rank_of(result) or 0))), 1e-30)
        return _result(node, op, result, limit, si32)
    is_unsigned = with_act or with_relu or limits[0] >= 0
    return _result(node, op, result, op.constant(max(map(abs, limits))), ui8 if is_unsigned else si8)
