"""Strings that hold bytes: encoded numbers, base64, code points of characters."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, describe, f32, si32, si64, ui8
from moir.dialects.shapes import element_of
from moir.expansions.strings.texts import (
    flat,
    int32,
    one_by_one,
    owner,
    positions_where,
    ranks,
    shape_value,
    size_of,
    unpacked,
    with_sentinel,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

ALPHABET = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
"""The characters for the values below 64, in the URL-safe variant of base64."""

REPLACEMENT = 0xFFFD
LAST_CODE_POINT = 0x10FFFF


@tf.lowers("DecodeCompressed")
def decompressed(node: LoweringNode, bytes: SSAValue, *, compression_type: str = "") -> SSAValue:
    """tf.DecodeCompressed(x) {compression_type = ""} -> x; other compressions raise ConversionError"""
    if compression_type:
        node.fail(
            "decompression reads its input bit by bit, each step depending on the one before",
            hint="decompress the data before the model",
        )
    return bytes


@tf.lowers("DecodeRaw")
def decoded_elements(node: LoweringNode, op: OpBuilder, bytes: SSAValue, *, out_type: Attribute, little_endian: bool = True) -> SSAValue:
    """tf.DecodeRaw(x) {out_type, little_endian}
    -> the bytes of opset15.StringTensorUnpack(x), reshaped, and summed with powers of 256
    """
    begins, _, symbols = unpacked(op, bytes)
    if out_type not in (*INTEGER_TYPES, boolean, f32):
        node.fail("the bits of such floats are not computed", hint="decode integers or floats of 32 bits")
    size = describe(out_type).bits // 8 if out_type != boolean else 1
    shape = op.Concat(op.ShapeOf(begins), [-1] if size == 1 else [-1, size], axis=0)
    content = op.Reshape(symbols, shape, special_zero=False)
    if size == 1:
        return op.convert(content, out_type)
    order = range(size) if little_endian else range(size)[::-1]
    return assembled(op, [op.Gather(content, index, -1) for index in order], out_type)


def assembled(op: OpBuilder, parts: Sequence[SSAValue], element: Attribute) -> SSAValue:
    """Numbers of an element type, assembled from `parts`: one tensor for each byte, the lowest byte first."""
    wide = si64 if len(parts) == 8 else si32
    value: SSAValue | None = None
    for index, part in enumerate(parts):
        term = op.convert(part, wide)
        if index:
            term = op.Multiply(term, op.constant(np.array(256**index, np.uint64).astype(np.int64 if wide is si64 else np.int32)))
        value = term if value is None else op.Add(value, term)
    assert value is not None
    return as_float(op, value) if element == f32 else op.convert(value, element)


def as_float(op: OpBuilder, bits: SSAValue) -> SSAValue:
    """The f32 numbers with the bit patterns given as integers.

    The mantissa is multiplied by a power of two, which a table holds for each exponent; this product is exact.
    """
    magnitude = op.BitwiseAnd(bits, int32(0x7FFFFFFF))
    exponent = op.Divide(magnitude, int32(1 << 23), m_pythondiv=False)
    mantissa = op.convert(op.BitwiseAnd(bits, int32((1 << 23) - 1)), f32)
    powers = 2.0 ** np.concatenate([[-126], np.arange(-126, 128)])
    table = op.Gather(powers.astype(np.float32), op.Minimum(exponent, int32(254)), 0)
    whole = op.convert(op.NotEqual(exponent, int32(0)), f32)
    value = op.Multiply(table, op.Add(whole, op.Multiply(mantissa, 2.0**-23)))
    special = op.Select(op.Equal(mantissa, 0.0), np.array(np.inf, np.float32), np.array(np.nan, np.float32))
    value = op.Select(op.Equal(exponent, int32(255)), special, value)
    return op.Select(op.Less(bits, int32(0)), op.Negative(value), value)


# Base 64


@tf.lowers("EncodeBase64")
def encoded(op: OpBuilder, input: SSAValue, *, pad: bool = False) -> SSAValue:
    """tf.EncodeBase64(x) {pad} -> a character for each 6 bits, from a table"""
    begins, ends, symbols = unpacked(op, input)
    starts, stops = flat(op, begins), flat(op, ends)
    sizes = op.Subtract(stops, starts)
    # The characters that hold bits, and the total with padding characters.
    counts = op.Divide(op.Add(op.Multiply(sizes, int32(4)), int32(2)), int32(3), m_pythondiv=False)
    widths = op.Multiply(op.Divide(op.Add(sizes, int32(2)), int32(3), m_pythondiv=False), int32(4)) if pad else counts
    after = op.CumSum(widths, 0)
    first = op.Subtract(after, widths)
    positions = one_by_one(op, op.ReduceSum(widths, [0], keep_dims=False))
    row = owner(op, after, positions)
    column = op.Subtract(positions, op.Gather(first, row, 0))
    bit = op.Multiply(column, int32(6))
    at, shift = op.Divide(bit, int32(8), m_pythondiv=False), op.FloorMod(bit, int32(8))
    content = op.convert(with_sentinel(op, symbols, np.zeros(1, np.uint8)), si32)
    last, start, none = (op.Gather(each, row, 0) for each in (sizes, starts, op.Broadcast(size_of(op, symbols), op.ShapeOf(sizes))))

    def byte(offset: SSAValue) -> SSAValue:
        return op.Gather(content, op.Select(op.Less(offset, last), op.Add(start, offset), none), 0)

    pair = op.Add(op.Multiply(byte(at), int32(256)), byte(op.Add(at, int32(1))))
    divisors = int32([1024, 0, 256, 0, 64, 0, 16, 0]) + int32([0, 1, 0, 1, 0, 1, 0, 1])
    six = op.FloorMod(op.Divide(pair, op.Gather(divisors, shift, 0), m_pythondiv=False), int32(64))
    values = op.Select(op.Less(column, op.Gather(counts, row, 0)), six, int32(64))
    characters = op.Gather(np.frombuffer(ALPHABET + b"=", np.uint8), values, 0)
    limits = [op.Reshape(each, shape_value(op, begins), special_zero=False) for each in (first, after)]
    return op.StringTensorPack(*limits, characters)


@tf.lowers("DecodeBase64")
def decoded(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.DecodeBase64(x) -> the bytes of the 6 bits of each character"""
    begins, ends, symbols = unpacked(op, input)
    content = op.convert(with_sentinel(op, symbols, np.zeros(1, np.uint8)), si32)
    is_padding = op.Equal(content, int32(ord("=")))
    padding = op.Concat(int32([0]), op.CumSum(op.convert(is_padding, si32), 0), axis=0)
    starts, stops = flat(op, begins), flat(op, ends)
    sizes = op.Subtract(op.Subtract(stops, starts), op.Subtract(op.Gather(padding, stops, 0), op.Gather(padding, starts, 0)))
    widths = op.Divide(op.Multiply(sizes, int32(3)), int32(4), m_pythondiv=False)
    after = op.CumSum(widths, 0)
    first = op.Subtract(after, widths)
    positions = one_by_one(op, op.ReduceSum(widths, [0], keep_dims=False))
    row = owner(op, after, positions)
    bit = op.Multiply(op.Subtract(positions, op.Gather(first, row, 0)), int32(8))
    at, shift = op.Divide(bit, int32(6), m_pythondiv=False), op.FloorMod(bit, int32(6))
    values = np.zeros(256, np.int32)
    values[list(ALPHABET)] = np.arange(64)
    six = op.Gather(values, content, 0)
    start = op.Add(op.Gather(starts, row, 0), at)
    pair = op.Add(op.Multiply(op.Gather(six, start, 0), int32(64)), op.Gather(six, op.Add(start, int32(1)), 0))
    divisor = op.Gather(int32([16, 1, 4, 1, 1, 1]), shift, 0)
    result = op.convert(op.FloorMod(op.Divide(pair, divisor, m_pythondiv=False), int32(256)), element_of(symbols))
    limits = [op.Reshape(each, shape_value(op, begins), special_zero=False) for each in (first, after)]
    return op.StringTensorPack(*limits, result)


# Code points


@tf.lowers("UnicodeDecode", "UnicodeDecodeWithOffsets")
def code_points(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    *,
    replace_control_characters: bool = False,
    Tsplits: Attribute = si64,
    input_encoding: str = "",
) -> Sequence[SSAValue]:
    """tf.UnicodeDecode(x) {input_encoding = "UTF-8"}
    -> the code point at each byte that begins a character, and the splits between the strings

    The input must be valid UTF-8: invalid bytes would give other code points than in TensorFlow.
    """
    if input_encoding.upper() not in ("UTF-8", "UTF8"):
        node.fail("the operation sets have no tables of encodings", hint="use UTF-8")
    if replace_control_characters:
        node.fail("control characters are replaced", hint="leave replace_control_characters out")
    begins, ends, symbols = unpacked(op, input)
    content = op.convert(op.Concat(symbols, np.zeros(3, np.uint8), axis=0), si32)
    own = op.convert(symbols, si32)
    first_bytes = positions_where(op, op.NotEqual(op.BitwiseAnd(own, int32(0xC0)), int32(0x80)))
    lead = op.Gather(content, first_bytes, 0)
    following = [op.BitwiseAnd(op.Gather(content, op.Add(first_bytes, int32(offset)), 0), int32(0x3F)) for offset in (1, 2, 3)]
    value = op.BitwiseAnd(lead, int32(0x7F))
    for count, (limit, mask) in enumerate(((0xC0, 0x1F), (0xE0, 0x0F), (0xF0, 0x07)), 1):
        longer = op.BitwiseAnd(lead, int32(mask))
        for part in following[:count]:
            longer = op.Add(op.Multiply(longer, int32(64)), part)
        value = op.Select(op.GreaterEqual(lead, int32(limit)), longer, value)
    starts, stops = flat(op, begins), flat(op, ends)
    splits = op.convert(op.Concat(int32([0]), ranks(op, first_bytes, stops), axis=0), Tsplits)
    results = [splits, value]
    if node.is_used(2):
        row = owner(op, stops, first_bytes)
        results.append(op.convert(op.Subtract(first_bytes, op.Gather(starts, row, 0)), si64))
    return results[: node.result_count]


@tf.lowers("UnicodeEncode")
def encoded_characters(
    node: LoweringNode,
    op: OpBuilder,
    input_values: SSAValue,
    input_splits: SSAValue,
    *,
    errors: str = "replace",
    replacement_char: int = REPLACEMENT,
    output_encoding: str = "",
) -> SSAValue:
    """tf.UnicodeEncode(code_points, splits) {output_encoding = "UTF-8"} -> one to four bytes for each code point"""
    if output_encoding.upper() not in ("UTF-8", "UTF8"):
        node.fail("the operation sets have no tables of encodings", hint="use UTF-8")
    points, splits = op.convert(input_values, si32), op.convert(input_splits, si32)
    if errors == "ignore":
        node.fail("numbers that are not characters are left out", hint="replace them")
    replacement = int32(replacement_char)
    is_bad = op.LogicalOr(op.Less(points, int32(0)), op.Greater(points, int32(LAST_CODE_POINT)))
    is_bad = op.LogicalOr(is_bad, op.Equal(op.Divide(points, int32(0x800), m_pythondiv=False), int32(0xD800 // 0x800)))
    points = op.Select(is_bad, replacement, points)
    lengths = op.Add(op.convert(op.GreaterEqual(points, int32(0x80)), si32), int32(1))
    for limit in (0x800, 0x10000):
        lengths = op.Add(lengths, op.convert(op.GreaterEqual(points, int32(limit)), si32))
    sums = op.Concat(int32([0]), op.CumSum(lengths, 0), axis=0)
    positions = one_by_one(op, op.ReduceSum(lengths, [0], keep_dims=False))
    item = op.Subtract(owner(op, sums, positions), int32(1))
    length = op.Gather(lengths, item, 0)
    left = op.Subtract(op.Subtract(op.Gather(sums, op.Add(item, int32(1)), 0), int32(1)), positions)
    bits = op.Divide(op.Gather(points, item, 0), op.Gather(int32([1, 1 << 6, 1 << 12, 1 << 18]), left, 0), m_pythondiv=False)
    is_first = op.Equal(left, op.Subtract(length, int32(1)))
    lead = op.Add(bits, op.Gather(int32([0, 0, 0xC0, 0xE0, 0xF0]), length, 0))
    tail = op.Add(op.BitwiseAnd(bits, int32(0x3F)), int32(0x80))
    content = op.convert(op.Select(is_first, lead, tail), ui8)
    limits = op.Gather(sums, splits, 0)
    count = one_by_one(op, op.Subtract(size_of(op, splits), int32(1)))
    return op.StringTensorPack(op.Gather(limits, count, 0), op.Gather(limits, op.Add(count, int32(1)), 0), content)
