"""Scales and zero points that are operands of a node, and the values that they quantize or dequantize."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import REAL_TYPES, f32, ui8
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.quantization import IntegerRange, Quantization
from moir.dialects.shapes import element_of, normalize_axis, shape_of
from moir.expansions import quantization as expansions
from moir.expansions.constant_forms import as_type, constant_array, unpacked_type
from moir.expansions.quantization import Parameters, dequantized, divided, in_real_type, is_zero, quantizer_of
from moir.expansions.shape_values import rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.data_types import converted
from moir.rewriting.builder import OpBuilder


def integers_of(element: Attribute) -> IntegerRange | None:
    """The range of the integers of an element type; None for 8-bit floats."""
    return None if element in REAL_TYPES else IntegerRange.of(element)


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
    """A 1-D scale or zero point, reshaped to broadcast along an axis of a tensor of rank `rank`.

    A scale or zero point of a single element becomes a scalar.

    Args:
        node: the node, for errors.
        op: the builder.
        value: the scale or zero point.
        axis: the dimension of the tensor; a negative one counts from the end.
        rank: the rank of the tensor.
        data: the tensor, from which a dynamic rank is computed.
        known: the shape of the value, if its type does not state it.
    """
    shape = known if shape_of(value) is None else shape_of(value)
    if shape is not None and all(dimension == 1 for dimension in shape):
        array = constant_array(op, value)
        if not shape:
            return value
        return op.constant(array.reshape(()), unpacked_type(element_of(value))) if array is not None else op.Squeeze(value)
    if shape is not None and len(shape) != 1:
        return value
    if rank is not None and not -rank <= axis < rank and (shape is None or shape[0] < 0):
        # The default axis may not exist in the data: then the value has one element.
        return op.Reshape(value, [], special_zero=False)
    if rank is None and (shape is None or axis >= 0):
        if data is not None:
            unpacked = as_type(op, value, unpacked_type(element_of(value)))
            return op.Reshape(unpacked, _shape_along_axis(op, data, axis), special_zero=False)
        if shape is None:
            return value
        node.fail(f"the scales lie along axis {axis} of a tensor of dynamic rank", hint="give the model's inputs a static rank")
    # A negative axis needs no rank.
    rank = -axis if rank is None else rank
    return expansions.along_axis(op, value, normalize_axis(axis, rank), rank)


def _shape_along_axis(op: OpBuilder, data: SSAValue, axis: int) -> SSAValue:
    """The shape of a 1-D tensor along an axis of data of dynamic rank: -1, then 1 for each later dimension; [] for
    scalars.
    """
    rank = rank_value(op, data)
    after = op.Subtract(rank, axis + 1) if axis >= 0 else op.Minimum(op.Subtract(rank, 1), -axis - 1)
    return op.Concat(op.Broadcast(-1, op.Minimum(rank, 1)), op.Broadcast(1, op.Maximum(after, 0)), axis=0)


def quantization(
    node: LoweringNode,
    op: OpBuilder,
    element: Attribute,
    scale: SSAValue,
    zero: SSAValue | None,
    axis: int = 1,
    rank: int | None = None,
    data: SSAValue | None = None,
) -> Parameters:
    """The scale and zero point of a tensor, reshaped to broadcast to it; a zero point of zeros is left out.

    If the rank is dynamic (None), `data`, the tensor, is needed.
    """
    # Scale and zero point have the same shape; the type of either may state it.
    known = shape_of(scale) if zero is None or shape_of(scale) is not None else shape_of(zero)
    point = None if zero is None or is_zero(op, zero) else along_axis(node, op, zero, axis, rank, data=data, known=known)
    return Quantization(along_axis(node, op, scale, axis, rank, data=data, known=known), point, integers_of(element))


def quantized(op: OpBuilder, x: SSAValue, how: Parameters, element: Attribute, saturate: bool = True) -> SSAValue:
    """x / scale rounded, plus the zero point, saturated to an element type (8-bit floats only with `saturate`)."""
    if element not in REAL_TYPES:
        return expansions.quantized(op, x, how)
    return converted(op, divided(op, in_real_type(op, x, how, 8), how.scale), element, saturate)


def dequantized_operand(node: LoweringNode, op: OpBuilder, x: SSAValue, how: Parameters, real: Attribute = f32) -> SSAValue:
    """A quantized operand of a node, dequantized.

    If an operation of the model quantized it, and has no other use, it is erased.
    """
    result = dequantized(op, x, how, real)
    rounding, rounded = quantizer_of(op, x), result.owner
    if isinstance(rounded, Convert):
        # f16 is converted to f32 before it is quantized.
        rounded = rounded.data.owner
    if rounding is not None and isinstance(rounded, FakeQuantize) and isinstance(x.owner, Operation):
        node.run.release(x.owner)
        node.run.release(rounding)
    return result


def result_type(zero: SSAValue | None, default: Attribute = ui8) -> Attribute:
    """The integer type of a quantized result: the type of its zero point, or `default` without one."""
    return default if zero is None else element_of(zero)
