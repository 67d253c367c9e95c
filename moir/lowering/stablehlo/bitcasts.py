"""Bitcasts: elements whose bits are read as another type.

    %y = stablehlo.bitcast_convert(%x) : (tensor<4xf32>) -> tensor<4xi32>
->  sign · 2³¹ + exponent · 2²³ + mantissa, where the exponent is an index in a table of the powers of 2

    %y = stablehlo.bitcast_convert(%x) : (tensor<3x4xi8>) -> tensor<3xi32>
->  the last axis are the bytes of an element, the lowest one first
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, bf16, boolean, describe, f16, f32, si32, to_numpy
from moir.dialects.shapes import element_of
from moir.expansions.complex_numbers import paired, parts
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.random import uint32_of_state
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

MANTISSA = 23
"""Bits of the mantissa of f32."""

BIAS = 127
"""The bias of the exponent of f32."""

SIGN = -(2**31)
NOT_A_NUMBER = 0x7FC00000
NOT_A_HALF = 0x7E00


def _powers() -> tuple[np.ndarray[tuple[int], np.dtype[np.float32]], np.ndarray[tuple[int], np.dtype[np.float32]]]:
    """Two tables of f32 factors, indexed by the exponent field of an f32: their product is 2 to the power of the field
    minus the bias.

    Each factor is a normal number.
    """
    exponents = np.arange(255) - BIAS
    halves = exponents // 2
    return np.exp2(halves).astype(np.float32), np.exp2(exponents - halves).astype(np.float32)


def float_of_bits(op: OpBuilder, bits: SSAValue) -> SSAValue:
    """The f32 with the bits of an i32; subnormal numbers become 0, as with flushing to zero."""
    magnitude = op.BitwiseAnd(bits, 0x7FFFFFFF)
    field = op.BitwiseRightShift(magnitude, op.constant(MANTISSA, si32))
    mantissa = op.convert(op.BitwiseAnd(magnitude, (1 << MANTISSA) - 1), f32)
    value = op.Add(op.Multiply(mantissa, 2.0**-MANTISSA), 1.0)
    first, second = (np.append(factor, np.float32(np.inf)) for factor in _powers())
    first[0] = 0.0
    for factors in (first, second):
        value = op.Multiply(value, op.Gather(op.constant(factors), field, 0))
    is_nan = op.Greater(magnitude, 0x7F800000)
    value = op.Select(is_nan, op.constant_like(np.nan, value), value)
    return op.Select(op.Less(bits, 0), op.Negative(value), value)


def bits_of_float(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The bits of an f32 as an i32."""
    magnitude = op.Abs(x)
    bounds = np.append(np.exp2(np.arange(1, 255) - BIAS), np.inf).astype(np.float32)
    field = op.Bucketize(magnitude, op.constant(bounds), with_right_bound=False, output_type=si32)
    first, second = (np.append(1 / factor, np.float32(0)).astype(np.float32) for factor in _powers())
    for factors in (first, second):
        magnitude = op.Multiply(magnitude, op.Gather(op.constant(factors), field, 0))
    mantissa = op.convert(op.Multiply(op.Subtract(magnitude, 1.0), 2.0**MANTISSA), si32)
    is_normal = op.LogicalAnd(op.Greater(field, 0), op.Less(field, 255))
    mantissa = op.BitwiseAnd(mantissa, _all_bits_where(op, is_normal))
    bits = op.BitwiseOr(op.BitwiseLeftShift(field, op.constant(MANTISSA, si32)), mantissa)
    is_negative = op.LogicalOr(op.Less(x, 0.0), op.Less(op.Divide(1.0, x), 0.0))
    bits = op.BitwiseOr(bits, op.BitwiseAnd(_all_bits_where(op, is_negative), SIGN))
    is_nan = _all_bits_where(op, op.NotEqual(x, x))
    return op.BitwiseOr(op.BitwiseAnd(bits, op.BitwiseNot(is_nan)), op.BitwiseAnd(is_nan, NOT_A_NUMBER))


HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
"""The f16 for each of the 2¹⁶ bit patterns."""

INFINITE_HALF = 0x7C00
"""The bits of infinity in f16; the bits of smaller nonnegative numbers, as integers, are below it and in the same
order.
"""


def half_of_bits(op: OpBuilder, bits: SSAValue) -> SSAValue:
    """The f16 with the bits of an integer, of which the lowest 16 count."""
    return op.Gather(op.constant(HALVES), op.BitwiseAnd(op.convert(bits, si32), 0xFFFF), 0)


def bits_of_half(op: OpBuilder, x: SSAValue) -> SSAValue:
    """The bits of an f16 as an i32, sign-extended from 16 bits."""
    wide = op.convert(x, f32)
    bounds = HALVES[1 : INFINITE_HALF + 1].astype(np.float32)
    index = op.Bucketize(op.Abs(wide), op.constant(bounds), with_right_bound=False, output_type=si32)
    is_negative = op.LogicalOr(op.Less(wide, 0.0), op.Less(op.Divide(1.0, wide), 0.0))
    index = op.BitwiseOr(index, op.BitwiseAnd(_all_bits_where(op, is_negative), -(1 << 15)))
    is_nan = _all_bits_where(op, op.NotEqual(wide, wide))
    return op.BitwiseOr(op.BitwiseAnd(index, op.BitwiseNot(is_nan)), op.BitwiseAnd(is_nan, NOT_A_HALF))


def _all_bits_where(op: OpBuilder, condition: SSAValue) -> SSAValue:
    """An i32 mask: -1, all bits, where `condition` is true, else 0."""
    return op.Subtract(0, op.convert(condition, si32))


# Elements of one width


def _width(element: Attribute) -> int:
    """The number of bits of an element type in a bitcast; 1 for booleans."""
    return 1 if element == boolean else describe(element).bits


def _integers_of(op: OpBuilder, x: SSAValue) -> SSAValue | None:
    """The bits of elements of up to 32 bits, as i32 whose upper bits are undefined; None for types that are not
    supported.
    """
    element = element_of(x)
    if element == f32:
        return bits_of_float(op, x)
    if element == bf16:
        return op.BitwiseRightShift(bits_of_float(op, op.convert(x, f32)), op.constant(16, si32))
    if element == f16:
        return bits_of_half(op, x)
    if element == boolean or (element in INTEGER_TYPES and _width(element) <= 32):
        return op.convert(x, si32)
    return None


def _of_integers(op: OpBuilder, bits: SSAValue, element: Attribute) -> SSAValue | None:
    """Elements of a type, from their bits in the lowest bits of i32; None for types that are not supported."""
    if element == f32:
        return float_of_bits(op, bits)
    if element == bf16:
        return op.convert(float_of_bits(op, op.BitwiseLeftShift(bits, op.constant(16, si32))), bf16)
    if element == f16:
        return half_of_bits(op, bits)
    width = _width(element)
    if element not in INTEGER_TYPES or width > 32:
        return op.NotEqual(op.BitwiseAnd(bits, 1), 0) if element == boolean else None
    if width < 32 and describe(element).xml.startswith("u"):
        bits = op.BitwiseAnd(bits, (1 << width) - 1)
    elif width < 32:
        unused = op.constant(32 - width, si32)
        bits = op.BitwiseRightShift(op.BitwiseLeftShift(bits, unused), unused)
    return op.convert(bits, element)


# Elements of several widths


def _split(op: OpBuilder, bits: SSAValue, width: int, count: int) -> SSAValue:
    """Each i32 split into `count` parts of `width` bits, the lowest bits first, along a new last axis."""
    return op.BitwiseRightShift(op.Unsqueeze(bits, [-1]), op.constant(np.arange(count, dtype=np.int32) * width))


def _join(op: OpBuilder, bits: SSAValue, width: int, count: int) -> SSAValue:
    """The i32 whose bits are the lowest `width` bits of the `count` elements along the last axis, the lowest bits
    first.
    """
    mask = -1 if width == 32 else (1 << width) - 1
    fields = op.BitwiseLeftShift(op.BitwiseAnd(bits, mask), op.constant(np.arange(count, dtype=np.int32) * width))
    joined = op.Gather(fields, 0, -1)
    for index in range(1, count):
        joined = op.BitwiseOr(joined, op.Gather(fields, index, -1))
    return joined


def _bits_of_constant(values: Array, element: Attribute) -> Array:
    """A constant array reinterpreted as elements of another type.

    If the widths differ, the last axis is joined to one element, or a last axis of parts is appended.
    """
    dtype = to_numpy(element)
    source = 1 if values.dtype == np.bool_ else 8 * values.dtype.itemsize
    target = _width(element)
    count = max(source, target) // min(source, target)
    is_joined = target > source
    # Little-endian bytes or bits, one row for each group of elements.
    rows = np.ascontiguousarray(values).reshape(-1, count if is_joined else 1)
    if source == 1:
        rows = rows if target == 1 else np.packbits(rows, axis=1, bitorder="little")
    rows = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little").view(np.bool_) if target == 1 < source else rows.view(dtype)
    return rows.reshape(values.shape[:-1] if is_joined else (*values.shape, count) if count > 1 else values.shape)


def bitcast(op: OpBuilder, x: SSAValue, element: Attribute) -> SSAValue | None:
    """The bits of x as elements of another type; None for types of 64 bits and other types that are not supported.

    If an element has more bits than one of x, the last axis of x has the parts of an element; if it has fewer, the
    result has a further axis of the parts. The lowest bits come first.
    """
    source = element_of(x)
    if source == element:
        return x
    known = op.known.constant(x)
    if known is not None:
        return op.constant(_bits_of_constant(known, element), element)
    widths = _width(source), _width(element)
    if widths[0] == widths[1] and source in INTEGER_TYPES and element in INTEGER_TYPES:
        return op.convert(x, element)
    bits = _integers_of(op, x)
    if bits is None:
        return None
    if widths[0] > widths[1]:
        bits = _split(op, bits, widths[1], widths[0] // widths[1])
    elif widths[0] < widths[1] <= 32:
        bits = _join(op, bits, widths[0], widths[1] // widths[0])
    return _of_integers(op, bits, element)


def _refuse(node: LoweringNode, source: Attribute, element: Attribute) -> NoReturn:
    node.fail(
        f"the bits of {describe(source).xml} as {describe(element).xml} are not computed",
        hint="those of f32, f16, bf16 and integers of up to 32 bits are: convert before this operation, or cut the model there",
    )


@stablehlo.lowers("bitcast_convert")
def bitcast_convert(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.bitcast_convert(x) -> a constant, a conversion of integers, or sums of exponents and mantissas"""
    if (state := uint32_of_state(node, operand)) is not None:
        return state
    element = element_of(node.op.results[0])
    return bitcast(op, operand, element) or _refuse(node, element_of(operand), element)


@stablehlo.lowers("complex.bitcast_convert")
def bitcast_complex(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, imaginary: SSAValue | None = None
) -> SSAValue | Sequence[SSAValue]:
    """stablehlo.complex.bitcast_convert(x, y) -> the bits of the pairs (x, y), which have a further last axis of size 2

    The operand or the result is complex; if both are, the operation is the identity.
    """
    element = element_of(node.op.results[0])
    if imaginary is not None and node.result_count > 1:
        return [operand, imaginary] if element_of(operand) == element else _refuse(node, element_of(operand), element)
    if imaginary is not None:
        known = [op.known.constant(each) for each in (operand, imaginary)]
        pairs = paired(op, operand, imaginary)
        if known[0] is not None and known[1] is not None:
            pairs = op.constant(np.stack([known[0], known[1]], axis=-1))
        bits = bitcast(op, pairs, element) or _refuse(node, element_of(operand), element)
        # [..., 2, parts of a number] -> [..., parts of a pair]
        is_split = _width(element) < _width(element_of(operand))
        return op.Reshape(bits, [0] * node.known_rank(0) + [-1], special_zero=True) if is_split else bits
    source = element_of(operand)
    if _width(source) < _width(element):
        operand = op.Reshape(operand, [0] * (node.known_rank(0) - 1) + [2, -1], special_zero=True)
    bits = bitcast(op, operand, element) or _refuse(node, source, element)
    return list(parts(op, bits))
