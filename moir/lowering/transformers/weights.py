"""Weights as operands of products: floats stored in fewer bits, and quantized values with scales.

    %w = opset1.Constant() : tensor<64x32xbf16>
->  opset1.Convert(%w) {destination_type = f32}        marked as a decompression, which is not to be folded
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.analysis.constants import DECOMPRESSION, constant_of
from moir.dialects.element_types import INTEGER_TYPES, f16, f32
from moir.dialects.large_arrays import ComputedArray, Values
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


def restored(op: OpBuilder, weight: SSAValue) -> SSAValue:
    """A weight as f32: itself, or a Convert that is marked as a decompression."""
    if element_of(weight) == f32:
        return weight
    converted = op.Convert(weight, destination_type=f32)
    convert = converted.owner
    if isinstance(convert, Convert) and isinstance(weight.owner, Constant):
        convert.attributes["runtime_info"] = DECOMPRESSION
    return converted


def vector(op: OpBuilder, value: SSAValue, offset: float = 0.0, shape: tuple[int, ...] = (-1,)) -> SSAValue:
    """A small constant weight as an f32 constant in a given shape, with `offset` added to all its elements."""
    array = constant_of(value)
    if array is None:
        values = op.Reshape(restored(op, value), list(shape), special_zero=False)
        return op.Add(values, offset) if offset else values
    floats = np.asarray(array, np.float32).reshape(shape)
    return op.constant(floats + np.float32(offset) if offset else floats, f32)


def product(node: LoweringNode, op: OpBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue | None = None) -> SSAValue:
    """The product x · weightᵀ + bias for a weight [N, K]; without a sum if the bias is None."""
    columns = columns_of(node).get(weight)
    if columns is not None:
        x = op.Gather(x, op.convert(columns, element_of(columns)), -1)
    y = op.MatMul(x, restored(op, weight), transpose_b=True)
    return y if bias is None else op.Add(y, vector(op, bias))


def columns_of(node: LoweringNode) -> dict[SSAValue, SSAValue]:
    """For each dequantized weight whose columns are stored in another order, a value with that order; shared by the
    handlers of a run.
    """
    return node.run.state("columns of weights", dict[SSAValue, SSAValue])


@transformers.lowers("Dequantize")
def dequantize(
    node: LoweringNode,
    op: OpBuilder,
    codes: SSAValue,
    scale: SSAValue,
    zero_point: SSAValue | None = None,
    columns: SSAValue | None = None,
    *,
    is_grouped: bool = False,
) -> SSAValue:
    """transformers.Dequantize(codes, scale, zero point) {is_grouped}
    -> Convert(Reshape((Convert(codes) - Convert(zero point)) * scale))

    The form in which targets keep quantized values: in f16 if the scale is f16, else in f32. Weights that are stored in
    another order of columns are used in this order by products; anything else refuses them.
    """
    element = element_of(scale) if element_of(scale) == f16 else f32
    value = op.convert(codes, element)
    if zero_point is not None:
        if element_of(zero_point) not in INTEGER_TYPES and element_of(zero_point) != element:
            element = f32
            value = op.convert(codes, element)
        value = op.Subtract(value, op.convert(zero_point, element))
    value = op.Multiply(value, op.convert(scale, element))
    shape = shape_of(codes)
    if is_grouped:
        if shape is None:
            node.fail("the shape of the codes is unknown")
        value = op.Reshape(value, [*shape[:-2], shape[-2] * shape[-1]], special_zero=False)
    value = op.convert(value, f32)
    if columns is not None:
        columns_of(node)[value] = columns
    return value


def rows_of(values: Values, rows: slice) -> Values:
    """The rows of a weight that a slice selects."""
    return values.moved(lambda array: array[rows]) if isinstance(values, ComputedArray) else values[rows]
