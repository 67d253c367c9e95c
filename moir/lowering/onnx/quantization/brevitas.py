"""Quantization as Brevitas and QONNX write it: floats rounded to the values of integers of any bits.

    %y = onnx.qonnx.custom_op.general.Quant(%x, 0.125, 0.0, 4.0) {signed = 1, narrow = 0}
->  %y = opset1.FakeQuantize(%x, -1.0, 0.875, -1.0, 0.875) {levels = 16}

Source: https://github.com/fastmachinelearning/qonnx, docs/qonnx-custom-ops
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of
from moir.expansions.constant_forms import constant_array
from moir.expansions.quantization import half_away_from_zero, half_to_even
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

DOMAINS = ("qonnx.custom_op.general", "finn.custom_op.general", "onnx.brevitas")

LARGEST_LEVELS = 8
"""The largest number of bits of integers for which a FakeQuantize is built."""


def _by_magnitude(rounding: Callable[[OpBuilder, SSAValue], SSAValue]) -> Callable[[OpBuilder, SSAValue], SSAValue]:
    """A function that rounds the absolute value of a number by `rounding`, and keeps the sign."""
    return lambda op, x: op.Multiply(op.Sign(x), rounding(op, op.Abs(x)))


ROUNDINGS: Mapping[str, Callable[[OpBuilder, SSAValue], SSAValue]] = {
    "ROUND": half_to_even,
    "HALF_EVEN": half_to_even,
    "CEIL": lambda op, x: op.Ceiling(x),
    "FLOOR": lambda op, x: op.Floor(x),
    "UP": _by_magnitude(lambda op, x: op.Ceiling(x)),
    "DOWN": _by_magnitude(lambda op, x: op.Floor(x)),
    "ROUND_TO_ZERO": _by_magnitude(lambda op, x: op.Floor(x)),
    "HALF_UP": half_away_from_zero,
    "HALF_DOWN": _by_magnitude(lambda op, x: op.Ceiling(op.Subtract(x, 0.5))),
}


def _kinds(*names: str) -> list[str]:
    return [f"{domain}.{name}" for domain in DOMAINS for name in names]


@onnx.lowers(*_kinds("Quant", "IntQuant"))
def quantize_to_bits(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zeropt: SSAValue,
    _bitwidth: SSAValue,
    *,
    signed: bool = True,
    narrow: bool = False,
    rounding_mode: str = "ROUND",
) -> SSAValue:
    """onnx.qonnx.custom_op.general.Quant(x, scale, zero, bits) {signed, narrow, rounding_mode}
    -> (round(clamp(x / scale + zero)) - zero) * scale; a FakeQuantize if that rounds as exactly

    A FakeQuantize rounds the distance from its lowest level: half of a level goes to an even level only if the lowest
    integer is even.
    """
    bits = _bits(node, 3)
    if signed and bits == 1:
        return _signs(op, x, scale)
    low, high = _ends(bits, signed, narrow)
    rounding = _rounding(node, rounding_mode)
    scales, zeros = constant_array(op, scale), constant_array(op, zeropt)
    if scales is not None and zeros is not None and rounding is half_to_even:
        is_exact = bits <= LARGEST_LEVELS and low % 2 == 0 and np.all(scales > 0) and np.all(zeros == np.round(zeros))
        if is_exact and float(bits).is_integer():
            lowest, highest = (op.constant_like((end - zeros) * scales.astype(np.float64), x) for end in (low, high))
            return op.FakeQuantize(x, lowest, highest, lowest, highest, levels=int(high - low) + 1)
    values = op.Clamp(_shifted(op, op.Divide(x, scale), zeropt), min=low, max=high)
    return op.Multiply(op.Subtract(rounding(op, values), zeropt), scale)


@onnx.lowers(*_kinds("BipolarQuant"))
def quantize_to_signs(op: OpBuilder, x: SSAValue, scale: SSAValue) -> SSAValue:
    """onnx.qonnx.custom_op.general.BipolarQuant(x, scale) -> scale where x / scale is at least 0, else -scale"""
    return _signs(op, x, scale)


def _signs(op: OpBuilder, x: SSAValue, scale: SSAValue) -> SSAValue:
    is_positive = op.GreaterEqual(op.Divide(x, scale), op.constant_like(0, x))
    return op.Multiply(op.Select(is_positive, op.constant_like(1, x), op.constant_like(-1, x)), scale)


@onnx.lowers(*_kinds("Trunc"))
def truncate(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    scale: SSAValue,
    zeropt: SSAValue,
    _in_bitwidth: SSAValue,
    *others: SSAValue,
    rounding_mode: str = "FLOOR",
    signed: bool = True,
    narrow: bool = False,
) -> SSAValue:
    """onnx.qonnx.custom_op.general.Trunc(x, scale, zero, bits, result bits)
    -> (round(round(x / scale + zero) / 2^(bits - result bits)) - zero) * scale

    Version 2 has a scale of the result before its bits: the power of two is the quotient of the scales, the integers
    are clamped to the result's bits, and the result has its scale.
    """
    rounding = _rounding(node, rounding_mode)
    whole = half_to_even(op, _shifted(op, op.Divide(x, scale), zeropt))
    bits = _bits(node, 3 + len(others))
    if len(others) == 1:
        parts = op.Divide(whole, 2.0 ** (_bits(node, 3) - bits))
        return op.Multiply(op.Subtract(rounding(op, parts), zeropt), scale)
    result_scale, scales, results = others[0], constant_array(op, scale), constant_array(op, others[0])
    if scales is None or results is None:
        node.fail("its scales are no constants", hint="make the scales initializers")
    divisor = op.constant_like(2.0 ** np.round(np.log2(results.astype(np.float64) / scales)), x)
    low, high = _ends(bits, signed, narrow)
    values = rounding(op, op.Clamp(op.Divide(whole, divisor), min=low, max=high))
    return op.Multiply(op.Subtract(values, op.Divide(op.convert(zeropt, element_of(x)), divisor)), result_scale)


def _shifted(op: OpBuilder, x: SSAValue, zero: SSAValue) -> SSAValue:
    """x plus a zero point; x itself if the zero point is a constant of zeros."""
    known = constant_array(op, zero)
    return x if known is not None and not known.any() else op.Add(x, zero)


def _bits(node: LoweringNode, index: int) -> float:
    """The number of bits, operand `index`. Raises ConversionError unless it is a positive constant."""
    value = node.constant(index)
    if value is None or value.size != 1 or value.item() <= 0:
        node.fail("its number of bits is no positive constant", hint="make the number of bits an initializer of one element")
    return float(value.item())


def _ends(bits: float, signed: bool, narrow: bool) -> tuple[float, float]:
    """The smallest and the largest integer of `bits` bits; `narrow` excludes the smallest if signed, else the
    largest.
    """
    if signed:
        return -(2.0 ** (bits - 1)) + narrow, 2.0 ** (bits - 1) - 1
    return 0.0, 2.0**bits - 1 - narrow


def _rounding(node: LoweringNode, mode: str) -> Callable[[OpBuilder, SSAValue], SSAValue]:
    rounding = ROUNDINGS.get(mode.upper())
    return node.fail(f"rounding_mode {mode!r} is not one of {', '.join(ROUNDINGS)}") if rounding is None else rounding
