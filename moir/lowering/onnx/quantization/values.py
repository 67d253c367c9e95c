"""Quantized values: integers with scale and zero point, in the forms that low-precision passes of the runtime match.

quantized:    FakeQuantize(x, (low - zero) * scale, (high - zero) * scale, low, high), Convert to the integer type
dequantized:  (Convert(x) - zero) * scale
dequantized after quantized: one FakeQuantize from floats to floats
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import REAL_TYPES, bf16, boolean, describe, f16, f32, to_numpy
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import converted
from moir.lowering.onnx.element_types import unpacked_type
from moir.lowering.onnx.operands import with_dimensions_behind
from moir.lowering.onnx.quantization.packed_integers import constant_array, integer_limits
from moir.rewriting.builder import OpBuilder

MAXIMUM_LEVEL_BITS = 16
"""FakeQuantize is not used for integers of more bits."""


class Quantization(NamedTuple):
    """Scale and zero point of a tensor, shaped to broadcast to it; the zero point may be None."""

    scale: SSAValue
    zero: SSAValue | None


def along_axis(
    node: LoweringNode,
    op: OpBuilder,
    value: SSAValue,
    axis: int,
    rank: int | None,
    *,
    data: SSAValue | None = None,
    known: Sequence[int] | None = None,
) -> SSAValue:
    """A scale or zero point of one dimension, reshaped to broadcast along an axis of a tensor of a rank.

    A scale or zero point of a single element becomes a scalar.

    Args:
        data: the tensor, of which an unknown rank is computed.
        known: the shape, if the value does not say it.
    """
    shape = known if shape_of(value) is None else shape_of(value)
    array = constant_array(op, value)
    if shape is not None and all(dimension == 1 for dimension in shape):
        if not shape:
            return value
        return op.constant(array.reshape(()), unpacked_type(element_of(value))) if array is not None else op.Squeeze(value)
    if shape is not None and len(shape) != 1:
        return value
    if rank is not None and not -rank <= axis < rank and (shape is None or shape[0] < 0):
        # The default axis of data that do not have it: there is one element.
        return op.Reshape(value, np.zeros(0, np.int64), special_zero=False)
    if rank is None and (shape is None or axis >= 0):
        if data is not None:
            unpacked = as_type(op, value, unpacked_type(element_of(value)))
            return op.Reshape(unpacked, _places_along_axis(op, data, axis), special_zero=False)
        if shape is None:
            return value
        node.fail(f"the scales lie along axis {axis} of a tensor of unknown rank", hint="give the model's inputs a known rank")
    behind = -axis - 1 if rank is None else rank - 1 - normalize_axis(axis, rank)
    if array is not None:
        return op.constant(array.reshape(-1, *(1,) * behind), unpacked_type(element_of(value)))
    if rank_of(value) is None:
        # A scalar or a list.
        return op.Reshape(value, [-1, *(1,) * behind], special_zero=False)
    return with_dimensions_behind(op, value, behind)


def _places_along_axis(op: OpBuilder, data: SSAValue, axis: int) -> SSAValue:
    """The shape of a list along an axis of data of unknown rank: -1, and 1 for all dimensions behind; [] of scalars."""
    rank = rank_value(op, data)
    behind = op.Subtract(rank, axis + 1) if axis >= 0 else op.Minimum(op.Subtract(rank, 1), -axis - 1)
    return op.Concat(op.Broadcast(-1, op.Minimum(rank, 1)), op.Broadcast(1, op.Maximum(behind, 0)), axis=0)


def quantization(
    node: LoweringNode,
    op: OpBuilder,
    scale: int,
    zero: int,
    axis: int = 1,
    rank: int | None = None,
    data: SSAValue | None = None,
) -> Quantization:
    """Scale and zero point of a tensor of some rank, from the operands of a node at indices `scale` and `zero`.

    A zero point of zeros is left out. With `data`, the tensor, its rank may be unknown.
    """
    factor, point = node.operand(scale), node.optional(zero)
    # Both have the same shape.
    known = shape_of(factor) if point is None or shape_of(factor) is not None else shape_of(point)
    if point is not None:
        array = constant_array(op, point)
        point = None if array is not None and not array.any() else along_axis(node, op, point, axis, rank, data=data, known=known)
    return Quantization(along_axis(node, op, factor, axis, rank, data=data, known=known), point)


def as_type(op: OpBuilder, value: SSAValue, element: Attribute) -> SSAValue:
    """A value in another element type; a constant remains a constant."""
    if element_of(value) == element:
        return value
    array = constant_array(op, value)
    return op.convert(value, element) if array is None else op.constant(array.astype(to_numpy(element)), element)


def quantized(op: OpBuilder, x: SSAValue, parameters: Quantization, element: Attribute, saturate: bool = True) -> SSAValue:
    """x / scale rounded, plus the zero point, saturated to an element type (8-bit floats only with `saturate`)."""
    scale, zero = parameters
    is_short = describe(element).bits >= 16 and element_of(x) == f16
    if element_of(x) not in REAL_TYPES or element_of(x) == bf16 or is_short or (element_of(x) == f16 and element_of(scale) != f16):
        # In bf16 the range of 8 bits has no place for the levels, nor in f16 that of 16 bits.
        x = op.convert(x, f32)
    real = element_of(x)
    if element in REAL_TYPES:
        return converted(op, _divided(op, x, as_type(op, scale, real)), element, saturate)
    low, high = integer_limits(element)
    scales, zeros = constant_array(op, scale), np.asarray(0) if zero is None else constant_array(op, zero)
    if scales is not None and zeros is not None and np.all(scales > 0) and describe(element).bits <= MAXIMUM_LEVEL_BITS:
        limits = _range_constants(op, scales, zeros, (low, high), real)
        levels = [op.constant(np.asarray(limit, to_numpy(real)), real) for limit in (low, high)]
        return op.convert(op.FakeQuantize(x, *limits, *levels, levels=high - low + 1), element)
    if real == f16:
        # The reciprocal of a constant of 16 bits would be rounded to 16 bits.
        x, real = op.convert(x, f32), f32
    level = op.Round(_divided(op, x, as_type(op, scale, real)), mode="half_to_even")
    if zero is not None:
        level = op.Add(level, as_type(op, zero, real))
    return op.convert(op.Clamp(level, min=low, max=high), element)


def _divided(op: OpBuilder, x: SSAValue, scale: SSAValue) -> SSAValue:
    scales = constant_array(op, scale)
    return x if scales is not None and np.all(scales == 1) else op.Divide(x, scale)


def _range_constants(op: OpBuilder, scales: Array, zeros: Array, limits: Sequence[int], real: Attribute) -> list[SSAValue]:
    """The real numbers that correspond to the limits of an integer type."""
    scales, zeros = scales.astype(np.float64), zeros.astype(np.float64)
    return [op.constant(((limit - zeros) * scales).astype(to_numpy(real)), real) for limit in limits]


def dequantized(op: OpBuilder, x: SSAValue, parameters: Quantization, real: Attribute = f32) -> SSAValue:
    """(x - zero point) · scale"""
    scale, zero = parameters
    fused = _requantized(op, x, parameters, real)
    if fused is not None:
        return fused
    value = op.convert(x, real)
    if zero is not None:
        value = op.Subtract(value, as_type(op, zero, real))
    scales = constant_array(op, scale)
    return value if scales is not None and np.all(scales == 1) else op.Multiply(value, as_type(op, scale, real))


def _requantized(op: OpBuilder, x: SSAValue, parameters: Quantization, real: Attribute) -> SSAValue | None:
    """One FakeQuantize in place of quantization and dequantization of x; None if `quantized` did not build x."""
    rounding = quantizer_of(op, x)
    if rounding is None or element_of(rounding.data) != real or element_of(x) == boolean:
        return None
    scales = constant_array(op, parameters.scale)
    zeros = np.asarray(0) if parameters.zero is None else constant_array(op, parameters.zero)
    if scales is None or zeros is None:
        return None
    limits = _range_constants(op, scales, zeros, integer_limits(element_of(x)), real)
    return op.FakeQuantize(rounding.data, rounding.input_low, rounding.input_high, *limits, levels=rounding.integer("levels"))


def quantizer_of(op: OpBuilder, x: SSAValue) -> FakeQuantize | None:
    """The FakeQuantize of a value that `quantized` built; None for any other value."""
    convert = x.owner
    if not isinstance(convert, Convert) or not isinstance(rounding := convert.data.owner, FakeQuantize):
        return None
    ends = [op.known.constant(limit) for limit in (rounding.output_low, rounding.output_high)]
    if any(end is None or end.size != 1 for end in ends) or element_of(x) in REAL_TYPES:
        return None
    low, high = (float(end.reshape(())) for end in ends if end is not None)
    return rounding if (low, high) == integer_limits(element_of(x)) else None


def dequantized_operand(
    node: LoweringNode, op: OpBuilder, index: int, parameters: Quantization, real: Attribute = f32, data: SSAValue | None = None
) -> SSAValue:
    """A dequantized operand of a node, or `data`, which was computed from the operand.

    Operations that quantized the operand are released, as nothing else may use them.
    """
    x = node.operand(index)
    result = dequantized(op, x if data is None else data, parameters, real)
    rounding = quantizer_of(op, x)
    if rounding is not None and isinstance(result.owner, FakeQuantize) and isinstance(x.owner, Operation):
        node.run.release(x.owner)
        node.run.release(rounding)
    return result


def reshaped_constant(op: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """A constant in another shape, also of a packed element type; None for any other value."""
    if not isinstance(value.owner, Constant):
        return None
    data = value.owner.value
    if describe(data.element).is_packed:
        packed = DataAttr.of(data.array, data.element, shape)
        return op.create(Constant, (), {"value": packed}).results[0]
    return op.constant(data.array.reshape(tuple(shape)), data.element)


def result_type(node: LoweringNode, zero: int, default: Attribute) -> Attribute:
    """The integer type of a quantized result: that of its zero point."""
    value = node.optional(zero)
    return default if value is None else element_of(value)
