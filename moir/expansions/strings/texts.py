"""The bytes of strings: a tensor of strings is split into a 1-D tensor of all bytes (UTF-8) and, in the shape of the
tensor, the index where the bytes of each string begin and the index where they end.

Lowerings of strings compute with these three tensors. opset15.StringTensorPack needs strings whose bytes follow each
other, so the bytes of results are gathered first: each byte belongs to the first string that ends after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si32
from moir.dialects.shapes import rank_of
from moir.rewriting.builder import OpBuilder, Operand

if TYPE_CHECKING:
    import numpy.typing as npt

WHITESPACE = b" \t\n\v\f\r"
"""The bytes that C counts as white space."""

LARGEST_COUNT = (1 << 31) - 1
"""The largest number of strings in a tensor, and of bytes in all of them: indices are integers of 32 bits."""


class Texts(NamedTuple):
    """Strings: begin and end of each, of type i32, and all bytes, of type u8."""

    begins: SSAValue
    ends: SSAValue
    symbols: SSAValue


def int32(value: npt.ArrayLike) -> Array:
    """A number, or an array of numbers, as an array of type i32."""
    return np.asarray(value, np.int32)


def unpacked(op: OpBuilder, strings: SSAValue) -> Texts:
    """The begins, ends and bytes of a tensor of strings: opset15.StringTensorUnpack."""
    return Texts(*op.StringTensorUnpack.results(strings))


def constant_texts(op: OpBuilder, texts: Sequence[bytes]) -> Texts:
    """Constant strings, given by their bytes, as a 1-D tensor."""
    sizes = int32([len(text) for text in texts])
    ends = np.cumsum(sizes, dtype=np.int32)
    begins = ends - sizes
    # With one more byte: a constant without elements would have no element type.
    symbols = np.frombuffer(b"".join(texts) + b"\0", np.uint8)
    return Texts(op.constant(begins), op.constant(ends), op.constant(symbols))


def together(op: OpBuilder, several: Sequence[Texts]) -> list[Texts]:
    """The strings of several tensors, with begins and ends that refer to one 1-D tensor of all their bytes."""
    symbols = op.Concat(*(texts.symbols for texts in several), axis=0)
    results: list[Texts] = []
    offset: SSAValue | None = None
    for texts in several:
        begins, ends = (value if offset is None else op.Add(value, offset) for value in texts[:2])
        results.append(Texts(begins, ends, symbols))
        size = size_of(op, texts.symbols)
        offset = size if offset is None else op.Add(offset, size)
    return results


def shape_value(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The shape of a value as a 1-D tensor; a constant for a scalar."""
    return op.constant([]) if rank_of(value) == 0 else op.ShapeOf(value)


def flat(op: OpBuilder, value: SSAValue) -> SSAValue:
    """Reshape a value to a 1-D tensor of all its elements."""
    return op.Reshape(value, [-1], special_zero=False)


def one_by_one(op: OpBuilder, count: SSAValue) -> SSAValue:
    """The integers 0, 1, … below the scalar `count`, as a 1-D tensor of i32."""
    return op.Range(int32(0), count, int32(1), output_type=si32)


def size_of(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The number of elements of a 1-D tensor, as a scalar of type i32."""
    return op.Squeeze(op.ShapeOf(value, output_type=si32), [0])


def owner(op: OpBuilder, ends: Operand, positions: Operand) -> SSAValue:
    """For each of `positions`, the index of the first range whose end is after it; `ends` are the exclusive ends,
    ascending.
    """
    return op.SearchSorted(ends, positions, right_mode=True, output_type=si32)


def ranks(op: OpBuilder, positions: SSAValue, starts: Operand) -> SSAValue:
    """For each of `starts`, the number of elements of the ascending `positions` that are less than it."""
    return op.SearchSorted(positions, starts, right_mode=False, output_type=si32)


def positions_where(op: OpBuilder, condition: SSAValue) -> SSAValue:
    """The indices of the true elements of a 1-D tensor."""
    return op.Squeeze(op.NonZero(condition, output_type=si32), [0])


def contiguous(op: OpBuilder, texts: Texts) -> Texts:
    """The same strings as a 1-D tensor, with their bytes gathered so that they follow each other."""
    begins, ends = flat(op, texts.begins), flat(op, texts.ends)
    lengths = op.Maximum(op.Subtract(ends, begins), int32(0))
    after = op.CumSum(lengths, 0)
    starts = op.Subtract(after, lengths)
    positions = one_by_one(op, op.ReduceSum(lengths, [0], keep_dims=False))
    sources = op.Add(positions, op.Gather(op.Subtract(begins, starts), owner(op, after, positions), 0))
    return Texts(starts, after, op.Gather(texts.symbols, sources, 0))


def packed(op: OpBuilder, texts: Texts, shape: Operand = None) -> SSAValue:
    """The tensor of strings with the given begins and ends; the bytes of different strings may be in any order and have
    gaps.

    Without `shape` it has the shape of the begins.
    """
    result = contiguous(op, texts)
    target = shape_value(op, texts.begins) if shape is None else shape
    begins, ends = (op.Reshape(value, target, special_zero=False) for value in (result.begins, result.ends))
    return op.StringTensorPack(begins, ends, result.symbols)


def concatenated(op: OpBuilder, parts: Texts, shape: Operand) -> SSAValue:
    """The tensor of strings of this shape, each of which is the concatenation of a row of `parts` [strings,
    substrings].
    """
    result = contiguous(op, parts)
    begins, ends = (op.Reshape(value, op.ShapeOf(parts.begins), special_zero=False) for value in (result.begins, result.ends))
    first, last = op.Gather(begins, 0, -1), op.Gather(ends, -1, -1)
    return op.StringTensorPack(op.Reshape(first, shape, special_zero=False), op.Reshape(last, shape, special_zero=False), result.symbols)


def is_one_of(op: OpBuilder, symbols: SSAValue, values: Sequence[int]) -> SSAValue:
    """Whether each byte of `symbols` is one of `values`, by a table of all bytes."""
    table = np.zeros(256, bool)
    table[list(values)] = True
    return op.Gather(op.constant(table), op.convert(symbols, si32), 0)


def with_sentinel(op: OpBuilder, values: SSAValue, sentinel: SSAValue | Array) -> SSAValue:
    """A 1-D tensor with the element `sentinel` appended, so that it is never empty."""
    return op.Concat(
        values, op.Reshape(sentinel, [1], special_zero=False) if isinstance(sentinel, SSAValue) else sentinel.reshape(1), axis=0
    )


def matrix(op: OpBuilder, texts: Texts, *, from_end: bool = False) -> tuple[SSAValue, SSAValue]:
    """The bytes of a 1-D tensor of strings as rows [strings, longest] of type i32, 0 after their ends, and their
    lengths.

    With `from_end` each row is reversed: column 0 has the last byte of the string.
    """
    begins, ends = texts.begins, texts.ends
    lengths = op.Subtract(ends, begins)
    columns = one_by_one(op, op.ReduceMax(with_sentinel(op, lengths, int32(1)), [0], keep_dims=False))
    inside = op.Less(columns, op.Unsqueeze(lengths, [1]))
    positions = (
        op.Subtract(op.Unsqueeze(op.Subtract(ends, int32(1)), [1]), columns) if from_end else op.Add(op.Unsqueeze(begins, [1]), columns)
    )
    symbols = op.convert(with_sentinel(op, texts.symbols, np.zeros(1, np.uint8)), si32)
    characters = op.Gather(symbols, op.Select(inside, positions, int32(0)), 0)
    return op.Select(inside, characters, int32(0)), lengths


def stripped(op: OpBuilder, texts: Texts) -> Texts:
    """Strings without white space at both ends."""
    others = positions_where(op, op.LogicalNot(is_one_of(op, texts.symbols, WHITESPACE)))
    after = size_of(op, texts.symbols)
    following = op.Gather(with_sentinel(op, others, after), ranks(op, others, texts.begins), 0)
    start = op.Minimum(following, texts.ends)
    before = op.Concat(int32([-1]), others, axis=0)
    last = op.Gather(before, ranks(op, others, texts.ends), 0)
    return Texts(start, op.Maximum(op.Add(last, int32(1)), start), texts.symbols)
