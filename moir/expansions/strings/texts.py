"""The bytes of strings: a tensor of strings is begins and ends, both of its shape, in one list of bytes (UTF-8).

Lowerings of strings take these apart and put them together. The runtime packs only strings whose bytes follow each
other, so that the bytes of results are gathered: each belongs to the string whose end follows it.
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
"""The most strings of a tensor, and bytes of them: places are numbers of 32 bits."""


class Texts(NamedTuple):
    """Strings: begin and end of each, of type i32, and all bytes, of type u8."""

    begins: SSAValue
    ends: SSAValue
    symbols: SSAValue


def number(value: npt.ArrayLike) -> Array:
    """A constant of type i32, or several."""
    return np.asarray(value, np.int32)


def unpacked(op: OpBuilder, strings: SSAValue) -> Texts:
    """The bytes of a tensor of strings."""
    return Texts(*op.StringTensorUnpack.results(strings))


def constant_texts(op: OpBuilder, texts: Sequence[bytes]) -> Texts:
    """A list of constant strings."""
    ends = np.cumsum([len(text) for text in texts], dtype=np.int32)
    begins = np.concatenate([number([0]), ends[:-1]])
    # A list without a byte would have no type.
    symbols = np.frombuffer(b"".join(texts) + b"\0", np.uint8)
    return Texts(op.constant(begins), op.constant(ends), op.constant(symbols))


def together(op: OpBuilder, several: Sequence[Texts]) -> list[Texts]:
    """Strings of several tensors, in one list of all their bytes."""
    symbols = op.Concat(*(texts.symbols for texts in several), axis=0)
    found: list[Texts] = []
    offset: SSAValue | None = None
    for texts in several:
        begins, ends = (value if offset is None else op.Add(value, offset) for value in texts[:2])
        found.append(Texts(begins, ends, symbols))
        size = size_of(op, texts.symbols)
        offset = size if offset is None else op.Add(offset, size)
    return found


def shape_value(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The shape of a value; a constant for a scalar."""
    return op.constant([]) if rank_of(value) == 0 else op.ShapeOf(value)


def flat(op: OpBuilder, value: SSAValue) -> SSAValue:
    """All elements of a value as a list."""
    return op.Reshape(value, [-1], special_zero=False)


def one_by_one(op: OpBuilder, count: SSAValue) -> SSAValue:
    """The numbers 0, 1, … below a scalar, of type i32."""
    return op.Range(number(0), count, number(1), output_type=si32)


def size_of(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The number of elements of a list, as a scalar of type i32."""
    return op.Squeeze(op.ShapeOf(value, output_type=si32), [0])


def owner(op: OpBuilder, ends: Operand, places: Operand) -> SSAValue:
    """For each position the index of the first range that ends after it."""
    return op.SearchSorted(ends, places, right_mode=True, output_type=si32)


def ranks(op: OpBuilder, positions: SSAValue, places: Operand) -> SSAValue:
    """For each position how many of the given ascending positions are before it."""
    # In an empty list the runtime finds arbitrary indices, so the list gets a last element.
    return op.SearchSorted(with_sentinel(op, positions, number(np.iinfo(np.int32).max)), places, right_mode=False, output_type=si32)


def positions_where(op: OpBuilder, condition: SSAValue) -> SSAValue:
    """The indices of the true elements of a list."""
    return op.Squeeze(op.NonZero(condition, output_type=si32), [0])


def contiguous(op: OpBuilder, texts: Texts) -> Texts:
    """A list of strings whose bytes follow each other. The begins and ends are flat."""
    begins, ends = flat(op, texts.begins), flat(op, texts.ends)
    lengths = op.Maximum(op.Subtract(ends, begins), number(0))
    after = op.CumSum(lengths, 0)
    starts = op.Subtract(after, lengths)
    places = one_by_one(op, op.ReduceSum(lengths, [0], keep_dims=False))
    sources = op.Add(places, op.Gather(op.Subtract(begins, starts), owner(op, after, places), 0))
    return Texts(starts, after, op.Gather(texts.symbols, sources, 0))


def packed(op: OpBuilder, texts: Texts, shape: Operand = None) -> SSAValue:
    """A tensor of strings, whose bytes may be in any order and have gaps.

    Its shape is by default that of the begins.
    """
    result = contiguous(op, texts)
    target = shape_value(op, texts.begins) if shape is None else shape
    begins, ends = (op.Reshape(value, target, special_zero=False) for value in (result.begins, result.ends))
    return op.StringTensorPack(begins, ends, result.symbols)


def concatenated(op: OpBuilder, pieces: Texts, shape: Operand) -> SSAValue:
    """The tensor of a shape, of strings that consist of the pieces [strings, pieces of each] one after the other."""
    result = contiguous(op, pieces)
    begins, ends = (op.Reshape(value, op.ShapeOf(pieces.begins), special_zero=False) for value in (result.begins, result.ends))
    first, last = op.Gather(begins, 0, -1), op.Gather(ends, -1, -1)
    return op.StringTensorPack(op.Reshape(first, shape, special_zero=False), op.Reshape(last, shape, special_zero=False), result.symbols)


def is_one_of(op: OpBuilder, symbols: SSAValue, values: Sequence[int]) -> SSAValue:
    """Whether each byte is one of some values, by a table of all bytes."""
    table = np.zeros(256, bool)
    table[list(values)] = True
    return op.Gather(op.constant(table), op.convert(symbols, si32), 0)


def with_sentinel(op: OpBuilder, values: SSAValue, sentinel: SSAValue | Array) -> SSAValue:
    """A list with an element appended, so that it is never empty."""
    return op.Concat(
        values, op.Reshape(sentinel, [1], special_zero=False) if isinstance(sentinel, SSAValue) else sentinel.reshape(1), axis=0
    )


def matrix(op: OpBuilder, texts: Texts, *, from_end: bool = False) -> tuple[SSAValue, SSAValue]:
    """The bytes of a list of strings as rows [strings, longest] of type i32, 0 after their ends, and the lengths.

    With `from_end` column 0 has the last byte of each string.
    """
    begins, ends = texts.begins, texts.ends
    lengths = op.Subtract(ends, begins)
    columns = one_by_one(op, op.ReduceMax(with_sentinel(op, lengths, number(1)), [0], keep_dims=False))
    inside = op.Less(columns, op.Unsqueeze(lengths, [1]))
    places = (
        op.Subtract(op.Unsqueeze(op.Subtract(ends, number(1)), [1]), columns) if from_end else op.Add(op.Unsqueeze(begins, [1]), columns)
    )
    symbols = op.convert(with_sentinel(op, texts.symbols, np.zeros(1, np.uint8)), si32)
    found = op.Gather(symbols, op.Select(inside, places, number(0)), 0)
    return op.Select(inside, found, number(0)), lengths


def stripped(op: OpBuilder, texts: Texts) -> Texts:
    """Strings without white space at both ends."""
    others = positions_where(op, op.LogicalNot(is_one_of(op, texts.symbols, WHITESPACE)))
    after = size_of(op, texts.symbols)
    following = op.Gather(with_sentinel(op, others, after), ranks(op, others, texts.begins), 0)
    start = op.Minimum(following, texts.ends)
    before = op.Concat(number([-1]), others, axis=0)
    last = op.Gather(before, ranks(op, others, texts.ends), 0)
    return Texts(start, op.Maximum(op.Add(last, number(1)), start), texts.symbols)
