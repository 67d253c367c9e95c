"""Numbers as text, text as numbers, and hashes of text."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, f32, si32, ui32, ui64
from moir.dialects.shapes import element_of
from moir.expansions.strings.digits import DIGITS, written
from moir.expansions.strings.hashes import hashed
from moir.expansions.strings.texts import (
    Texts,
    constant_texts,
    flat,
    int32,
    is_one_of,
    matrix,
    one_by_one,
    packed,
    shape_value,
    stripped,
    unpacked,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

SMALLEST_EXPONENT, SMALL_EXPONENT, LARGEST_EXPONENT = -80, -28, 39
"""Exponents of powers of ten: the smallest, the smallest whose power is a normal f32, and the largest that are
tabulated.

Outside of this range a digit times the power is 0 or infinite in f32.
"""


@tf.lowers("AsString")
def as_string(node: LoweringNode, op: OpBuilder, input: SSAValue, *, fill: str = "", width: int = -1) -> SSAValue:
    """tf.AsString(input) {width, fill} -> the digits of integers, or "true" and "false" for booleans"""
    element = node.element_attribute("T", element_of(input))
    if element == boolean:
        texts = constant_texts(op, [b"false", b"true"])
        chosen = op.convert(input, si32)
        return packed(op, Texts(op.Gather(texts.begins, chosen, 0), op.Gather(texts.ends, chosen, 0), texts.symbols))
    if element not in INTEGER_TYPES:
        node.fail(
            "the decimal fractions of floats have more digits than f32 holds",
            hint="convert the numbers to integers, or cut the model before this node",
        )
    if element in (ui32, ui64):
        node.fail("integers of 32 and 64 bits without a sign are not written as text", hint="convert the numbers to i32")
    if fill not in ("", " ", "0"):
        node.fail(f"numbers filled with {fill!r} are not supported", hint="use blanks or zeros")
    return written(op, input, max(width, 0), fill == "0")


@tf.lowers("StringToNumber")
def parsed(op: OpBuilder, string_tensor: SSAValue, *, out_type: Attribute = f32) -> SSAValue:
    """tf.StringToNumber(string_tensor) {out_type} -> the sum of the digits times powers of ten, with the sign

    A text that is not a number, for which TensorFlow fails, gives an unspecified number.
    """
    texts = stripped(op, unpacked(op, string_tensor))
    flattened = Texts(flat(op, texts.begins), flat(op, texts.ends), texts.symbols)
    value = parsed_integers(op, flattened) if out_type in INTEGER_TYPES else parsed_floats(op, flattened)
    return op.convert(op.Reshape(value, shape_value(op, string_tensor), special_zero=False), out_type)


def digit_values(op: OpBuilder, symbols: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Whether each byte is a digit, and the value of the digit; 0 for other bytes."""
    is_digit = op.LogicalAnd(op.GreaterEqual(symbols, int32(ord("0"))), op.LessEqual(symbols, int32(ord("9"))))
    return is_digit, op.Select(is_digit, op.Subtract(symbols, int32(ord("0"))), int32(0))


def parsed_integers(op: OpBuilder, texts: Texts) -> SSAValue:
    """The integers that texts denote."""
    rows, _ = matrix(op, texts, from_end=True)
    _, digits = digit_values(op, rows)
    zeros = op.Broadcast(int32(0), op.Concat(op.ShapeOf(texts.begins), [DIGITS], axis=0))
    padded = op.Concat(digits, zeros, axis=1)
    powers = int32(10 ** np.arange(DIGITS))
    value: SSAValue | None = None
    # A ReduceSum would be computed in f32.
    for digit_index in range(DIGITS):
        term = op.Multiply(op.Gather(padded, digit_index, 1), int32(powers[digit_index]))
        value = term if value is None else op.Add(value, term)
    is_negative = op.ReduceLogicalOr(op.Equal(rows, int32(ord("-"))), [1], keep_dims=False)
    assert value is not None
    return op.Select(is_negative, op.Negative(value), value)


def parsed_floats(op: OpBuilder, texts: Texts) -> SSAValue:
    """The floats that texts denote: digits before and after a point, an exponent; the words inf and nan.

    Each digit is multiplied by a rounded power of ten, so that the last bits of the result may differ from
    TensorFlow's.
    """
    rows, lengths = matrix(op, texts)
    columns = one_by_one(op, op.Gather(op.ShapeOf(rows, output_type=si32), 1, 0))
    size = op.Unsqueeze(lengths, [1])

    def contains(letters: bytes) -> SSAValue:
        return is_one_of(op, rows, letters)

    def first(letters: bytes) -> SSAValue:
        return op.ReduceMin(op.Select(contains(letters), columns, size), [1], keep_dims=True)

    is_digit, digits = digit_values(op, rows)
    exponent_at = first(b"eE")
    point = op.Minimum(first(b"."), exponent_at)
    is_in_exponent = op.Greater(columns, exponent_at)
    index = op.Minimum(op.Subtract(op.Subtract(size, int32(1)), columns), int32(4))
    parts = op.Select(is_in_exponent, op.Multiply(digits, op.Gather(int32(10 ** np.arange(5)), op.Maximum(index, int32(0)), 0)), int32(0))
    exponent = op.ReduceSum(parts, [1], keep_dims=True)
    is_small = op.ReduceLogicalOr(op.LogicalAnd(is_in_exponent, contains(b"-")), [1], keep_dims=True)
    exponent = op.Select(is_small, op.Negative(exponent), exponent)
    power = op.Subtract(op.Subtract(point, columns), op.convert(op.Less(columns, point), si32))
    is_counted = op.LogicalAnd(op.LogicalAnd(is_digit, op.NotEqual(digits, int32(0))), op.Less(columns, exponent_at))
    power = op.Add(power, exponent)
    largest = op.ReduceMax(op.Select(is_counted, power, int32(SMALLEST_EXPONENT)), [1], keep_dims=True)
    # Digits of the smallest numbers would underflow: these numbers are computed scaled up, and divided at the end.
    shift = op.Select(op.Less(largest, int32(SMALL_EXPONENT)), largest, int32(0))
    terms = op.Multiply(op.convert(digits, f32), power_of_ten(op, op.Subtract(power, shift)))
    value = op.ReduceSum(op.Select(is_counted, terms, 0.0), [1], keep_dims=True)
    half = op.Divide(shift, int32(2), m_pythondiv=False)
    for part in (half, op.Subtract(shift, half)):
        value = op.Multiply(value, power_of_ten(op, part))
    value = op.Squeeze(value, [1])
    has_i, has_n = (op.ReduceLogicalOr(contains(letters), [1], keep_dims=False) for letters in (b"iI", b"nN"))
    value = op.Select(has_i, np.inf, op.Select(has_n, np.nan, value))
    is_negative = op.Equal(op.Gather(rows, 0, 1), int32(ord("-")))
    return op.Select(is_negative, op.Negative(value), value)


def power_of_ten(op: OpBuilder, exponent: SSAValue) -> SSAValue:
    """Powers of ten, rounded to f32, from a table."""
    index = op.Subtract(exponent, int32(SMALLEST_EXPONENT))
    index = op.Minimum(op.Maximum(index, int32(0)), int32(LARGEST_EXPONENT - SMALLEST_EXPONENT))
    powers = [float(f"1e{each}") for each in range(SMALLEST_EXPONENT, LARGEST_EXPONENT)]
    return op.Gather(np.array([*powers, np.inf], np.float32), index, 0)


@tf.lowers("StringToHashBucketFast")
def hash_bucket(op: OpBuilder, input: SSAValue, *, num_buckets: int) -> SSAValue:
    """tf.StringToHashBucketFast(x) {num_buckets}
    -> extension.StringToHashBucket(opset15.StringTensorUnpack(x)) {num_buckets}
    """
    return hashed(op, unpacked(op, input), num_buckets)
