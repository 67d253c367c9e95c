"""The pieces of strings between separators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.strings.texts import (
    LARGEST_COUNT,
    WHITESPACE,
    Texts,
    flat,
    is_one_of,
    number,
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
    """Pieces of strings, one after the other: the string of each, its place in it, its begin and end, all of i32."""

    row: SSAValue
    column: SSAValue
    start: SSAValue
    stop: SSAValue


def pieces(
    op: OpBuilder, texts: Texts, separator: bytes, *, any_byte: bool = False, none_of_empty: bool = False, limit: int | None = None
) -> Pieces:
    """The pieces between the occurrences of a separator, empty ones included.

    Args:
        op: the builder.
        texts: a list of strings.
        separator: the separator, occurrences of which cannot overlap; an empty one stands for each byte of white space.
        any_byte: whether each single byte of the separator is a separator.
        none_of_empty: whether an empty string has no piece, instead of one empty piece.
        limit: maximum number of places at which a string is separated.
    """
    length = 1
    if any_byte or not separator:
        places = positions_where(op, is_one_of(op, texts.symbols, separator or WHITESPACE))
    else:
        length = len(separator)
        places = occurrences(op, texts, separator)
    firsts = ranks(op, places, texts.begins)
    counts = op.Add(op.Subtract(ranks(op, places, texts.ends), firsts), number(1))
    if none_of_empty:
        counts = op.Select(op.Equal(texts.begins, texts.ends), number(0), counts)
    if limit is not None:
        counts = op.Minimum(counts, number(_bounded(limit + 1)))
    row, column = rows_and_columns(op, counts)
    listed = with_sentinel(op, places, number(0))
    at = op.Add(op.Gather(firsts, row, 0), column)
    before = op.Gather(listed, op.Maximum(op.Subtract(at, number(1)), number(0)), 0)
    start = op.Select(op.Equal(column, number(0)), op.Gather(texts.begins, row, 0), op.Add(before, number(length)))
    is_last = op.Equal(column, op.Subtract(op.Gather(counts, row, 0), number(1)))
    stop = op.Select(is_last, op.Gather(texts.ends, row, 0), op.Gather(listed, op.Minimum(at, size_of(op, places)), 0))
    return Pieces(row, column, start, stop)


def _bounded(limit: int) -> int:
    """A limit on the number of pieces, clipped to the range of i32, since no string has more bytes."""
    return max(min(limit, LARGEST_COUNT), -1)


def without_empty(op: OpBuilder, found: Pieces) -> Pieces:
    """The pieces that have bytes, with new places."""
    kept = positions_where(op, op.Less(found.start, found.stop))
    row, start, stop = (op.Gather(each, kept, 0) for each in (found.row, found.start, found.stop))
    return Pieces(row, op.Subtract(one_by_one(op, size_of(op, kept)), ranks(op, row, row)), start, stop)


def limited(op: OpBuilder, texts: Texts, found: Pieces, limit: int) -> Pieces:
    """The first `limit` pieces between white space, and one more piece from there to the end of the stripped
    string.
    """
    kept = positions_where(op, op.LessEqual(found.column, number(_bounded(limit))))
    row, column, start, stop = (op.Gather(each, kept, 0) for each in found)
    return Pieces(
        row, column, start, op.Select(op.Equal(column, number(_bounded(limit))), op.Gather(stripped(op, texts).ends, row, 0), stop)
    )


def with_rest(op: OpBuilder, texts: Texts, found: Pieces, limit: int) -> Pieces:
    """The first `limit` pieces between white space of each string, and one more piece with the rest of the string.

    Every string of at least `limit` pieces has a rest; it may be empty, and includes white space at the end.
    """
    ends = flat(op, texts.ends)
    rows = one_by_one(op, size_of(op, ends))
    firsts = ranks(op, found.row, rows)
    own = op.Subtract(ranks(op, found.row, op.Add(rows, number(1))), firsts)
    row, column = rows_and_columns(op, op.Select(op.Less(own, number(_bounded(limit))), own, number(_bounded(limit + 1))))
    place = op.Minimum(op.Add(op.Gather(firsts, row, 0), column), size_of(op, found.start))
    start, stop = (op.Gather(with_sentinel(op, each, number(0)), place, 0) for each in (found.start, found.stop))
    last = op.Gather(ends, row, 0)
    is_rest = op.Equal(column, number(_bounded(limit)))
    has_more = op.Less(column, op.Gather(own, row, 0))
    return Pieces(row, column, op.Select(has_more, start, last), op.Select(is_rest, last, stop))


def rows_and_columns(op: OpBuilder, counts: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The row and the column of each element, for rows with these counts of elements, one row after the other."""
    after = op.CumSum(counts, 0)
    places = one_by_one(op, op.ReduceSum(counts, [0], keep_dims=False))
    row = owner(op, after, places)
    return row, op.Subtract(places, op.Gather(op.Subtract(after, counts), row, 0))


def overlaps(wanted: bytes) -> bool:
    """Whether occurrences of the given bytes in a string can overlap."""
    return any(wanted.endswith(wanted[:size]) for size in range(1, len(wanted)))


def occurrences(op: OpBuilder, texts: Texts, wanted: bytes) -> SSAValue:
    """The positions in strings at which some bytes occur, whose occurrences cannot overlap."""
    after = np.zeros(len(wanted), np.uint8)
    symbols = op.Concat(texts.symbols, after, axis=0)
    places = one_by_one(op, size_of(op, texts.symbols))
    table = op.Gather(symbols, op.Add(op.Unsqueeze(places, [1]), number(np.arange(len(wanted)))), 0)
    same = op.ReduceLogicalAnd(op.Equal(table, np.frombuffer(wanted, np.uint8)), [1], keep_dims=False)
    if len(wanted) > 1:
        # All bytes of an occurrence must be in one string.
        ends = flat(op, texts.ends)
        limit = op.Gather(with_sentinel(op, ends, number(0)), owner(op, ends, places), 0)
        same = op.LogicalAnd(same, op.LessEqual(op.Add(places, number(len(wanted))), limit))
    return positions_where(op, same)
