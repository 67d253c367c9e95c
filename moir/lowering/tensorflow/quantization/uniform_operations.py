"""Uniform quantization: each tensor of integers comes with operands for its scale and its zero point.

    %y = tf.UniformQuantize(%x, %scale, %zero) {quantization_axis = 1, quantization_min_val = -128, …}
->  %y = Convert(opset1.Clamp(opset1.Floor(%x / %scale + 0.5) + %zero, -128, 127))

With an axis, scale and zero point are 1-D tensors with an element per index along it. Midpoints between two integers
are rounded up.

Source: tensorflow/core/kernels/uniform_quant_ops.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.quantization import Parameters, along_axis, centered, dequantized, half_up, saturated
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


def quantization(node: LoweringNode, op: OpBuilder, index: int, prefix: str, rank: int | None) -> Parameters:
    """The scale, operand `index`, and the zero point, the operand after it, as floats that broadcast to rank `rank`.

    `prefix` is the prefix of the names of their attributes (`lhs`, `rhs`, `output`).
    """
    scale, zero = (placed(node, op, node.operand(operand), prefix, rank) for operand in (index, index + 1))
    return Quantization(scale, op.convert(zero, f32))


def placed(node: LoweringNode, op: OpBuilder, value: SSAValue, prefix: str, rank: int | None) -> SSAValue:
    """A scalar, or a 1-D tensor along the axis in an attribute, reshaped to broadcast to a tensor of a rank.

    `prefix` is that of the attribute's name (`lhs_`, …). Raises ConversionError if the rank is dynamic, None, or too
    small for the axis.
    """
    axis = node.integer(f"{prefix}quantization_axis", -1)
    if axis < 0:
        return as_scalar(op, value)
    if rank is None or axis >= rank:
        node.fail(f"axis {axis} of a tensor of {'dynamic rank' if rank is None else f'rank {rank}'}", hint="give the inputs a static rank")
    return along_axis(op, value, axis, rank)


def stored(node: LoweringNode, op: OpBuilder, quantized: SSAValue, prefix: str, element: Attribute) -> SSAValue:
    """Rounded floats as integers of an element type, clamped to the limits in the attributes that begin with `prefix`
    (`output_`, …).
    """
    low, high = (node.integer(f"{prefix}quantization_{end}_val") for end in ("min", "max"))
    if max(-low, high) < 1 << 24:
        quantized = op.Clamp(quantized, min=float(low), max=float(high))
    return saturated(op, quantized, IntegerRange.of(element))


@tf.lowers("UniformQuantize")
def quantize(node: LoweringNode, op: OpBuilder, input: SSAValue, *, Tout: Attribute) -> SSAValue:
    """tf.UniformQuantize(x, scale, zero) -> Convert(opset1.Clamp(rounded(x / scale) + zero, min, max))"""
    how = quantization(node, op, 1, "", rank_of(input))
    quantized = op.Add(half_up(op, op.Divide(input, how.scale)), how.zero_point)
    return stored(node, op, quantized, "", Tout)


@tf.lowers("UniformDequantize")
def dequantize(node: LoweringNode, op: OpBuilder, input: SSAValue, *, Tout: Attribute = f32) -> SSAValue:
    """tf.UniformDequantize(x, scale, zero) -> (Convert(x) - zero) * scale"""
    return op.convert(dequantized(op, input, quantization(node, op, 1, "", rank_of(input))), Tout)


@tf.lowers("UniformRequantize")
def requantize(node: LoweringNode, op: OpBuilder, input: SSAValue, *, Tout: Attribute) -> SSAValue:
    """tf.UniformRequantize(x, scale, zero, new scale, new zero)
    -> Convert(opset1.Clamp(rounded((x - zero) * (scale / new scale)) + new zero, min, max))
    """
    before, after = quantization(node, op, 1, "input_", rank_of(input)), quantization(node, op, 3, "output_", rank_of(input))
    moved = rescaled(op, centered(op, input, before), before.scale, after)
    return stored(node, op, moved, "output_", Tout)


def rescaled(op: OpBuilder, x: SSAValue, scale: SSAValue, after: Parameters) -> SSAValue:
    """Quantized integers with one scale, requantized to the scale and zero point of `after`."""
    return op.Add(half_up(op, op.Multiply(x, op.Divide(scale, after.scale))), after.zero_point)


@tf.lowers("UniformQuantizedAdd")
def add(node: LoweringNode, op: OpBuilder, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
    """tf.UniformQuantizedAdd(x, y, scales and zero points of x, y and the result)
    -> the sum of both with the scale of the result; if scales are equal, in integers: (x - zero) + (y - zero) + zero
    """
    scales = [node.constant(2), node.constant(4), node.constant(6)]
    if all(scale is not None and scales[0] is not None and np.array_equal(scale, scales[0]) for scale in scales):
        zeros = [placed(node, op, node.operand(index), prefix, _rank(node, each)) for index, prefix, each in _ZEROS]
        terms = [op.Subtract(op.convert(node.operand(index), element_of(zeros[index])), zeros[index]) for index in (0, 1)]
        return op.convert(op.Add(op.Add(*terms), zeros[2]), node.element(0))
    left, right = quantization(node, op, 2, "lhs_", node.rank(0)), quantization(node, op, 4, "rhs_", node.rank(1))
    after = quantization(node, op, 6, "output_", _rank(node, None))
    first = half_up(op, op.Multiply(centered(op, lhs, left), op.Divide(left.scale, after.scale)))
    return stored(node, op, op.Add(first, rescaled(op, centered(op, rhs, right), right.scale, after)), "output_", node.element(0))


_ZEROS = ((3, "lhs_", 0), (5, "rhs_", 1), (7, "output_", None))
"""For each zero point of a sum: its operand, the prefix of its attributes, and the operand that is quantized by it
(None: the result).
"""


def _rank(node: LoweringNode, index: int | None) -> int | None:
    """The rank of operand `index` of a sum, or of its result if `index` is None; None if it is dynamic."""
    if index is not None:
        return node.rank(index)
    ranks = [node.rank(0), node.rank(1)]
    return max(rank for rank in ranks if rank is not None) if None not in ranks else None


@tf.lowers("UniformQuantizedClipByValue")
def clip(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """tf.UniformQuantizedClipByValue(x, min, max, …) -> opset1.Minimum(opset1.Maximum(x, min), max)"""
    low, high = (placed(node, op, node.operand(index), "", node.rank(0)) for index in (1, 2))
    return op.Minimum(op.Maximum(operand, low), high)
