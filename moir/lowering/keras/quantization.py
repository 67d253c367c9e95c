"""Layers whose weights Keras quantized: int8 with inputs that are quantized for each row, int4 in blocks, float8.

s = 127 / max |x|, q = round(x · s)      x · W  =  (q · kernel) / (s · kernel scale)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si8
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.projections import projected
from moir.rewriting.builder import OpBuilder

EPSILON = 1e-7
"""The number that Keras adds to the largest absolute value, so that a scale is never 0."""

LARGEST_FLOAT8 = 448.0
"""The largest number of f8e4m3."""


def _unsupported(node: LoweringNode, mode: str) -> SSAValue:
    node.fail(f"the quantization {mode} is not supported", hint="save the model before model.quantize(), or quantize to int8")


def mode_of(variables: Sequence[SSAValue], *, use_bias: bool) -> str:
    """The quantization mode of a layer within another one, derived from its variables, since the configuration lacks
    it.

    Empty if the layer is not quantized.
    """
    further = len(variables) - 1 - use_bias
    if variables and element_of(variables[0]) == si8:
        return "int8" if further == 1 else "int4"
    return "float8" if further >= 3 else ""


def quantized_product(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    variables: Sequence[SSAValue],
    mode: str,
    *,
    use_bias: bool,
    count: int = 1,
    outer: Sequence[int] | None = None,
) -> SSAValue:
    """The product of x and a quantized kernel, and the bias.

    Args:
        node: the layer.
        op: the builder.
        x: the input [..., I].
        variables: kernel, bias, then the scale and any further variables of the mode.
        mode: `int8`, `int4/SIZE` with blocks of that size, or `float8`.
        use_bias: whether there is a bias.
        count: how many of the last dimensions of x are summed over, with the first ones of the kernel.
        outer: the other dimensions of the kernel; None if they are those of the scale.
    """
    kernel, *rest = variables
    bias = rest.pop(0) if use_bias and rest else None
    if not rest:
        node.fail("the scale of its kernel is not in the file")
    inner = (shape_of(x) or ())[-count:]
    if len(inner) < count or min(inner) < 1:
        node.fail("the size of the dimensions that it sums over is dynamic")
    if mode == "int8":
        product = _by_rows(node, op, x, kernel, rest[0], count)
    elif mode.startswith("int4") and len(rest) == 3:
        values = unpacked(node, op, kernel, rest)
        shape = [*inner, *(outer or values.shape[1:])]
        product = _projected(node, op, x, op.constant(values.reshape(shape), f32), count)
    elif mode == "float8" and len(rest) >= 3:
        product = _projected(node, op, _as_float8(op, x, rest[0]), _as_float8(op, kernel, rest[2]), count)
    else:
        return _unsupported(node, mode)
    return product if bias is None else op.Add(product, bias)


def _projected(node: LoweringNode, op: OpBuilder, x: SSAValue, kernel: SSAValue, count: int) -> SSAValue:
    product = projected(op, x, kernel, count)
    if product is None:
        node.fail("the shape of its input is dynamic, or it sums over all dimensions")
    return product


def _as_float8(op: OpBuilder, x: SSAValue, scale: SSAValue) -> SSAValue:
    """The values of x, rounded so that x / scale is a number of f8e4m3.

    They are computed in floats, since a pair of Converts might be removed as a no-op: Dekker's splitting keeps four
    bits of the mantissa, and subnormal numbers are rounded to multiples of 2⁻⁹.
    """
    factor = op.convert(scale, element_of(x))
    limited = op.Clamp(op.Divide(x, factor), min=-LARGEST_FLOAT8, max=LARGEST_FLOAT8)
    large = op.Multiply(limited, 2.0**20 + 1)
    normal = op.Subtract(large, op.Subtract(large, limited))
    small = op.Multiply(op.Round(op.Multiply(limited, 2.0**9), mode="half_to_even"), 2.0**-9)
    return op.Multiply(op.Select(op.Less(op.Abs(limited), 2.0**-6), small, normal), factor)


def _rounded_rows(op: OpBuilder, x: SSAValue, axes: Sequence[int]) -> tuple[SSAValue, SSAValue]:
    """x / s rounded to integers, and 1 / s, where s = max |x| / 127 along `axes`."""
    largest = op.ReduceMax(op.Abs(x), list(axes), keep_dims=True)
    row_scale = op.Divide(op.constant_like(127.0, x), op.Add(largest, EPSILON))
    return op.Clamp(op.Round(op.Multiply(x, row_scale), mode="half_to_even"), min=-127.0, max=127.0), row_scale


def _by_rows(node: LoweringNode, op: OpBuilder, x: SSAValue, kernel: SSAValue, scale: SSAValue, count: int) -> SSAValue:
    """The product of x, quantized for each row, and an int8 kernel that is divided by its scale.

    `count` is the number of last dimensions of x that are summed over.
    """
    axes = list(range(-count, 0))
    rounded, row_scale = _rounded_rows(op, x, axes)
    product = _projected(node, op, rounded, op.convert(kernel, element_of(x)), count)
    outer = (rank_of(kernel) or 0) - count
    if outer != count:
        row_scale = op.Squeeze(row_scale, axes)
        row_scale = op.Unsqueeze(row_scale, list(range(-outer, 0))) if outer else row_scale
    return op.Divide(product, op.Multiply(row_scale, op.convert(scale, element_of(x))))


def unpacked(node: LoweringNode, op: OpBuilder, kernel: SSAValue, rest: Sequence[SSAValue], *, by_rows: bool = True) -> Array:
    """The values (q - zero[g]) · scale[g] of packed 4-bit numbers q, two in a byte along the last axis, low half first.

    `rest` are the scales, the zero points, and the group g of each row; scales have an element for each group and
    column. Without `by_rows`, the groups are those of columns, and scales have an element for each row and group.
    Raises ConversionError unless all are constant.
    """
    known = [op.known.constant(value) for value in (kernel, *rest)]
    if any(each is None for each in known):
        node.fail("its kernel is not constant")
    packed, scale, zero, groups = (np.asarray(each) for each in known)
    indices = groups.astype(np.int64)
    columns = scale.shape[-1] if by_rows else indices.size
    if packed.dtype.kind not in "iu" or scale.ndim != 2 or zero.shape != scale.shape:
        node.fail("its kernel is not of packed integers with a scale for each group")
    low, high = (packed << 4).astype(np.int8) >> 4, packed.astype(np.int8) >> 4
    values = np.stack([low, high], axis=-1).reshape(packed.shape[0], -1)[:, :columns].astype(np.float32)
    if (
        indices.shape != (values.shape[0 if by_rows else 1],)
        or indices.min(initial=0) < 0
        or indices.max(initial=0) >= scale.shape[not by_rows]
    ):
        node.fail("the groups of its kernel do not fit to its scale")
    zeros, factors = ((each[indices] if by_rows else each[:, indices]).astype(np.float32) for each in (zero, scale))
    return (values - zeros) * factors


def dequantized_embedding(node: LoweringNode, op: OpBuilder, indices: SSAValue, variables: Sequence[SSAValue], mode: str) -> SSAValue:
    """The rows of a quantized table at `indices`: divided by the scale of each row (int8), or unpacked (int4).

    `variables` are the table, then scales and so on. Raises ConversionError for another mode.
    """
    if mode.startswith("int4") and len(variables) == 4:
        return op.Gather(op.constant(unpacked(node, op, variables[0], variables[1:], by_rows=False), f32), indices, 0)
    if mode != "int8" or len(variables) < 2:
        return _unsupported(node, mode)
    table, scale = variables[0], variables[1]
    rows = op.convert(op.Gather(table, indices, 0), element_of(scale))
    return op.Divide(rows, op.Unsqueeze(op.Gather(scale, indices, 0), [-1]))


def product_with_table(node: LoweringNode, op: OpBuilder, x: SSAValue, variables: Sequence[SSAValue], mode: str) -> SSAValue:
    """The product of x, quantized for each row, and the rows of a quantized table, the first of `variables`."""
    if mode.startswith("int4") and len(variables) == 4:
        table = op.constant(unpacked(node, op, variables[0], variables[1:], by_rows=False), f32)
        return op.MatMul(x, table, transpose_b=True)
    rounded, row_scale = _rounded_rows(op, x, [-1])
    if mode != "int8" or len(variables) != 2:
        return _unsupported(node, mode)
    product = op.MatMul(rounded, op.convert(variables[0], element_of(x)), transpose_b=True)
    return op.Divide(product, op.Multiply(row_scale, op.convert(variables[1], element_of(x))))
