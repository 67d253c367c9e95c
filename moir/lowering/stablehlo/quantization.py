"""Conversion of quantized tensors: an integer is dequantized to (integer - zero point) · scale.

    %q = stablehlo.uniform_quantize(%x) {scales = [0.03], zero_points = [-4], element = si8, …}
->  %q = opset1.Convert(opset1.Clamp(opset5.Round(%x / 0.03) - 4))
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder


def _parameters(node: LoweringNode, op: OpBuilder, scales: tuple[float, ...], zeros: tuple[int, ...], axis: int | None) -> list[SSAValue]:
    """The scales and zero points as constants that broadcast to the operand; 1-D ones are along `axis`."""
    shape: tuple[int, ...] = ()
    if axis is not None:
        rank = node.known_rank(0)
        if not 0 <= axis < rank or len(scales) != len(zeros):
            node.fail(f"{len(scales)} scales along axis {axis} of a tensor of rank {rank}")
        shape = (-1, *(1,) * (rank - axis - 1))
    arrays = [np.array(each, np.float32).reshape(shape if axis is not None else ()) for each in (scales, zeros)]
    return [op.constant(each, f32) for each in arrays]


@stablehlo.lowers("uniform_quantize")
def quantize(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    *,
    scales: tuple[float, ...],
    zero_points: tuple[int, ...],
    storage_min: int,
    storage_max: int,
    element: Attribute,
    axis: int | None = None,
) -> SSAValue:
    """stablehlo.uniform_quantize(x) -> round(x / scale) + zero point, within the integers of the type"""
    scale, zero = _parameters(node, op, scales, zero_points, axis)
    quantized = op.Round(op.Divide(op.convert(operand, f32), scale), mode="half_to_even")
    if any(zero_points):
        quantized = op.Add(quantized, zero)
    return op.convert(op.Clamp(quantized, min=float(storage_min), max=float(storage_max)), element)


@stablehlo.lowers("uniform_dequantize")
def dequantize(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    *,
    scales: tuple[float, ...],
    zero_points: tuple[int, ...],
    element: Attribute,
    axis: int | None = None,
) -> SSAValue:
    """stablehlo.uniform_dequantize(q) -> (q - zero point) · scale"""
    scale, zero = _parameters(node, op, scales, zero_points, axis)
    quantized = op.convert(operand, f32)
    if any(zero_points):
        quantized = op.Subtract(quantized, zero)
    return op.convert(op.Multiply(quantized, scale), element)
