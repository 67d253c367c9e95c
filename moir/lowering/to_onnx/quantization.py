"""Quantized weights and activations as pairs of QuantizeLinear and DequantizeLinear.

Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient Integer-Arithmetic-Only Inference",
2018.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import describe, f16, f32, si4, si8, ui4, ui8
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

_BLOCKED_SINCE = 21
"""The first version of the operator set with integers of 4 bits, and with a scale for each block of elements."""
_LIMITS: dict[Attribute, tuple[int, int]] = {si4: (-8, 7), ui4: (0, 15), si8: (-128, 127), ui8: (0, 255)}


def _constant(value: SSAValue) -> DataAttr | None:
    """The data of a constant operation; None for any other value."""
    owner = value.owner
    if isinstance(owner, Operation) and owner.name == "opset1.Constant":
        data = owner.properties.get("value")
        return data if isinstance(data, DataAttr) else None
    return None


def _cast_operand(value: SSAValue) -> SSAValue | None:
    """The operand of the Cast that computes a value; None if the value is not computed by a Cast."""
    owner = value.owner
    return owner.operands[0] if isinstance(owner, Operation) and owner.name == "onnx.Cast" else None


def dequantized(op: OnnxBuilder, a: SSAValue, b: SSAValue) -> SSAValue | None:
    """The DequantizeLinear of a product of converted integers, less a zero point, and scales.

    None if the product is another one, or if ONNX has no such form in the version.

        onnx.Mul(onnx.Sub(onnx.Cast(q), z), s)  ->  onnx.DequantizeLinear(q, s, z)
    """
    for weight, scale in ((a, b), (b, a)):
        if (result := _of_weight(op, weight, scale)) is not None:
            return result
    return None


def _of_weight(op: OnnxBuilder, weight: SSAValue, scale: SSAValue) -> SSAValue | None:
    scales = _constant(scale)
    owner = weight.owner
    zero: SSAValue | None = None
    if isinstance(owner, Operation) and owner.name == "onnx.Sub":
        weight, zero = owner.operands
    quantized = _cast_operand(weight)
    if scales is None or quantized is None or _constant(quantized) is None:
        return None
    element, shape = element_of(quantized), shape_of(quantized)
    if element not in _LIMITS or shape is None or element_of(scale) != element_of(weight) or scales.element not in (f32, f16):
        return None
    layout = _layout(scales.shape, shape)
    is_packed = describe(element).is_packed
    if layout is None or ((is_packed or "block_size" in layout[1] or scales.element != f32) and op.version < _BLOCKED_SINCE):
        return None
    of_scales, attributes = layout
    operands = [quantized, op.constant(scales.array.reshape(of_scales), scales.element)]
    if zero is not None:
        points = _zero_points(op, zero, element, scales.shape, of_scales)
        if points is None:
            return None
        operands.append(points)
    return op.DequantizeLinear(*operands, **attributes)


def _layout(scales: tuple[int, ...], shape: tuple[int, ...]) -> tuple[tuple[int, ...], dict[str, int]] | None:
    """The shape of scales in ONNX, and the attributes (axis, block_size) that state which elements of the data they
    belong to.

    Returns None if ONNX cannot express scales of this shape for data of the shape `shape`.
    """
    if len(scales) > len(shape):
        return None
    if int(np.prod(scales)) == 1:
        return (), {}
    whole = (*(1,) * (len(shape) - len(scales)), *scales)
    own = [axis for axis, size in enumerate(whole) if size > 1]
    if any(whole[axis] != shape[axis] for axis in own):
        return None
    if len(own) == 1:
        return (shape[own[0]],), {"axis": own[0]}
    shared = [axis for axis, size in enumerate(whole) if size == 1 and shape[axis] > 1]
    if len(shared) != 1:
        return None
    return whole, {"axis": shared[0], "block_size": shape[shared[0]]}


def _zero_points(
    op: OnnxBuilder, zero: SSAValue, element: Attribute, scales: tuple[int, ...], of_scales: tuple[int, ...]
) -> SSAValue | None:
    """Constant zero points in the element type of the data and the shape `of_scales`; None if they cannot be converted
    to these.
    """
    source = _cast_operand(zero)
    data = _constant(zero if source is None else source)
    if data is None:
        return None
    if data.element == element and (data.shape == scales or int(np.prod(data.shape)) == int(np.prod(scales)) == 1):
        return op.constant(DataAttr.of(data.array, element, of_scales))
    if describe(data.element).is_packed:
        return None
    try:
        numbers = np.broadcast_to(data.array.astype(np.float64), scales)
    except ValueError:
        # There are more zero points than scales.
        return None
    low, high = _LIMITS[element]
    if not np.array_equal(numbers, np.rint(numbers)) or numbers.min() < low or numbers.max() > high:
        return None
    if describe(element).is_packed:
        return op.constant(DataAttr.of(_packed(numbers.astype(np.int64).ravel()), element, of_scales))
    return op.constant(numbers.reshape(of_scales), element)


def _packed(numbers: Array) -> Array:
    """Pack integers of 4 bits, two in a byte, the first one in the low bits."""
    nibbles = (numbers & 15).astype(np.uint8)
    if nibbles.size % 2:
        nibbles = np.append(nibbles, np.uint8(0))
    return nibbles[::2] | nibbles[1::2] << np.uint8(4)


@opset.lowers("FakeQuantize")
def fake_quantize(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    input_low: SSAValue,
    input_high: SSAValue,
    output_low: SSAValue,
    output_high: SSAValue,
    *,
    levels: int,
    auto_broadcast: str = "numpy",
) -> SSAValue:
    """opset1.FakeQuantize(x, …) -> onnx.DequantizeLinear(onnx.QuantizeLinear(x)) for 8 bits, else the computation in
    floats
    """
    if auto_broadcast == "pdpd":
        node.fail("its limits broadcast by the rule pdpd, which ONNX does not have", hint="reshape the limits for numpy's rule")
    limits = [node.constant(index) for index in range(1, 5)]
    constants = [each for each in limits if each is not None]
    if len(constants) == 4 and (pair := _pair(node, op, x, constants, levels)) is not None:
        return pair
    rank = node.known_rank(0)
    input_low, input_high, output_low, output_high = (
        # Leading dimensions of 1 would become dimensions of the result.
        op.Reshape(each, op.sizes(each, node.known_rank(index) - rank)) if node.known_rank(index) > rank else each
        for index, each in enumerate((input_low, input_high, output_low, output_high), 1)
    )
    steps = float(levels - 1)
    span = op.Sub(input_high, input_low)
    level = op.Round(op.Mul(op.Div(op.Sub(x, input_low), span), steps))
    inside = op.Add(op.Mul(op.Div(level, steps), op.Sub(output_high, output_low)), output_low)
    is_above = op.Greater(x, op.Max(input_low, input_high))
    is_below = op.LessOrEqual(x, op.Min(input_low, input_high))
    return op.Where(is_below, output_low, op.Where(is_above, output_high, inside))


def _pair(node: LoweringNode, op: OnnxBuilder, x: SSAValue, limits: list[Array], levels: int) -> SSAValue | None:
    """The QuantizeLinear and DequantizeLinear of a FakeQuantize with constant limits.

    Returns None unless it has 256 or 255 levels, equal input and output limits, and zero points that are 8-bit
    integers.
    """
    low, high, output_low, output_high = (each.astype(np.float64) for each in limits)
    shape = node.shape(0)
    if levels not in (255, 256) or not (np.array_equal(low, output_low) and np.array_equal(high, output_high)) or (high <= low).any():
        return None
    if node.element(0) != f32 or low.shape != high.shape or (shape is None and low.size > 1):
        return None
    layout: tuple[tuple[int, ...], dict[str, int]] | None = ((), {})
    if low.size > 1:
        layout = _layout(low.shape, cast("tuple[int, ...]", shape))
    if layout is None or "block_size" in layout[1]:
        return None
    scale = (high - low) / (levels - 1)
    is_symmetric = np.allclose(low, -high - (scale if levels == 256 else 0), rtol=1e-5)
    point = np.zeros_like(scale) if is_symmetric else -low / scale
    if not np.allclose(point, np.rint(point), atol=1e-3) or (not is_symmetric and (levels == 255 or point.min() < 0 or point.max() > 255)):
        return None
    of_scales, attributes = layout
    operands = (
        op.constant(scale.astype(np.float32).reshape(of_scales)),
        op.constant(np.rint(point).reshape(of_scales), si8 if is_symmetric else ui8),
    )
    if levels == 255:
        # The least value, -128, is not among them.
        x = op.Max(op.Min(x, op.constant(limits[1])), op.constant(limits[0]))
    return op.DequantizeLinear(op.QuantizeLinear(x, *operands, **attributes), *operands, **attributes)
