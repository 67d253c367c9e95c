"""Splitting strings at separators into substrings (pieces)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.strings.texts import (
    LARGEST_COUNT,
    WHITESPACE,
    Texts,
    flat,
    int32,
    is_one_of,
    one_by_one,
    owner,
    positions_where,
    ranks,
    size_of,
    stripped,
    with_sentinel,
)
from moir.rewriting.builder import OpBuilder


class Pieces(NamedTuple):
    """Substrings as 1-D tensors of i32.

    For each: the index of the string that it is a part of, its index among the substrings of this string, and the begin
    and end of its bytes.
    """

    row: SSAValue
    column: SSAValue
    start: SSAValue
    stop: SSAValue


def pieces(
    op: OpBuilder, texts: Texts, separator: bytes, *, any_byte: bool = False, none_of_empty: bool = False, limit: int | None = None
) -> Pieces:
    """The substrings between the occurrences of a separator, empty ones included.

    Args:
        op: the builder.
        texts: a 1-D tensor of strings.
        separator: the separator, occurrences of which cannot overlap; an empty one stands for each byte of white space.
        any_byte: whether each single byte of the separator is a separator.
        none_of_empty: whether an empty string has no substring, instead of an empty one.
        limit: maximum number of separators at which a string is split; None for all.
    """
    length = 1
    if any_byte or not separator:
        positions = positions_where(op, is_one_of(op, texts.symbols, separator or WHITESPACE))
    else:
        length = len(separator)
        positions = occurrences(op, texts, separator)
    firsts = ranks(op, positions, texts.begins)
    counts = op.Add(op.Subtract(ranks(op, positions, texts.ends), firsts), int32(1))
    if none_of_empty:
        counts = op.Select(op.Equal(texts.begins, texts.ends), int32(0), counts)
    if limit is not None:
        counts = op.Minimum(counts, int32(_bounded(limit + 1)))
    row, column = rows_and_columns(op, counts)
    separators = with_sentinel(op, positions, int32(0))
    at = op.Add(op.Gather(firsts, row, 0), column)
    before = op.Gather(separators, op.Maximum(op.Subtract(at, int32(1)), int32(0)), 0)
    start = op.Select(op.Equal(column, int32(0)), op.Gather(texts.begins, row, 0), op.Add(before, int32(length)))
    is_last = op.Equal(column, op.Subtract(op.Gather(counts, row, 0), int32(1)))
    stop = op.Select(is_last, op.Gather(texts.ends, row, 0), op.Gather(separators, op.Minimum(at, size_of(op, positions)), 0))
    return Pieces(row, column, start, stop)


def _bounded(limit: int) -> int:
    """The limit on the number of substrings, at most the largest i32; no string has more bytes."""
    return max(min(limit, LARGEST_COUNT), -1)


def without_empty(op: OpBuilder, parts: Pieces) -> Pieces:
    """The substrings that are not empty, with their new indices in their strings."""
    kept = positions_where(op, op.Less(parts.start, parts.stop))
    row, start, stop = (op.Gather(each, kept, 0) for each in (parts.row, parts.start, parts.stop))
    return Pieces(row, op.Subtract(one_by_one(op, size_of(op, kept)), ranks(op, row, row)), start, stop)


def limited(op: OpBuilder, texts: Texts, parts: Pieces, limit: int) -> Pieces:
    """The first `limit` substrings of each string, and one more from there to the string's end without trailing white
    space.
    """
    kept = positions_where(op, op.LessEqual(parts.column, int32(_bounded(limit))))
    row, column, start, stop = (op.Gather(each, kept, 0) for each in parts)
    return Pieces(
        row, column, start, op.Select(op.Equal(column, int32(_bounded(limit))), op.Gather(stripped(op, texts).ends, row, 0), stop)
    )


def with_rest(op: OpBuilder, texts: Texts, parts: Pieces, limit: int) -> Pieces:
    """The first `limit` words of each string, which are separated by white space, and one more substring with the rest.

    Every string of at least `limit` words has a rest; it may be empty, and includes white space at the end.
    """
    ends = flat(op, texts.ends)
    rows = one_by_one(op, size_of(op, ends))
    firsts = ranks(op, parts.row, rows)
    own = op.Subtract(ranks(op, parts.row, op.Add(rows, int32(1))), firsts)
    row, column = rows_and_columns(op, op.Select(op.Less(own, int32(_bounded(limit))), own, int32(_bounded(limit + 1))))
    index = op.Minimum(op.Add(op.Gather(firsts, row, 0), column), size_of(op, parts.start))
    start, stop = (op.Gather(with_sentinel(op, each, int32(0)), index, 0) for each in (parts.start, parts.stop))
    last = op.Gather(ends, row, 0)
    is_rest = op.Equal(column, int32(_bounded(limit)))
    has_more = op.Less(column, op.Gather(own, row, 0))
    return Pieces(row, column, op.Select(has_more, start, last), op.Select(is_rest, last, stop))


def rows_and_columns(op: OpBuilder, counts: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The row index and the column index of each element of a ragged tensor, both 1-D.

    `counts` is the number of elements of each row.
    """
    after = op.CumSum(counts, 0)
    positions = one_by_one(op, op.ReduceSum(counts, [0], keep_dims=False))
    row = owner(op, after, positions)
    return row, op.Subtract(positions, op.Gather(op.Subtract(after, counts), row, 0))


def overlaps(wanted: bytes) -> bool:
    """Whether two occurrences of the given bytes in a string can overlap."""
    return any(wanted.endswith(wanted[:size]) for size in range(1, len(wanted)))


def occurrences(op: OpBuilder, texts: Texts, wanted: bytes) -> SSAValue:
    """The indices, in the 1-D tensor of all bytes, at which the bytes `wanted` occur within one string.

    Their occurrences cannot overlap.
    """
    after = np.zeros(len(wanted), np.uint8)
    symbols = op.Concat(texts.symbols, after, axis=0)
    positions = one_by_one(op, size_of(op, texts.symbols))
    table = op.Gather(symbols, op.Add(op.Unsqueeze(positions, [1]), int32(np.arange(len(wanted)))), 0)
    same = op.ReduceLogicalAnd(op.Equal(table, np.frombuffer(wanted, np.uint8)), [1], keep_dims=False)
    if len(wanted) > 1:
        # All bytes of an occurrence must be in one string.
        ends = flat(op, texts.ends)
        limit = op.Gather(with_sentinel(op, ends, int32(0)), owner(op, ends, positions), 0)
        same = op.LogicalAnd(same, op.LessEqual(op.Add(positions, int32(len(wanted))), limit))
    return positions_where(op, same)
