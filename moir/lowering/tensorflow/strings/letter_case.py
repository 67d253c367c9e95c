"""Upper and lower case of characters beyond ASCII, in UTF-8.

    b"\\xc3\\x84pfel"  ->  b"\\xc3\\xa4pfel"      one character of two bytes, and its small form of two bytes
    b"stra\\xc3\\x9fe"  ->  b"STRASSE"            one whose capital form is two characters

The code point of each character is looked up in a two-level table, which holds the index of the character's form in
the other case. The forms are texts. The result is concatenated from these texts and from the bytes of all characters
that have no other form.

Source: the Unicode Standard, chapter 3.13, Default Case Algorithms
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import boolean, si32
from moir.expansions.strings.texts import (
    Texts,
    constant_texts,
    contiguous,
    flat,
    int32,
    one_by_one,
    owner,
    positions_where,
    ranks,
    shape_value,
    size_of,
    together,
    with_sentinel,
)
from moir.rewriting.builder import OpBuilder

_LIMIT = 0x1F000
"""Code points from this one on have only one case."""
_BLOCK = 64
_SIGMA, _FINAL_SIGMA = 0x3A3, "\u03c2"
"""The small Greek letter sigma, and its form at the end of a word."""


class _Tables(NamedTuple):
    """Tables for the other case of code points.

    Args:
        blocks: the block of each range of code points, an index into `forms` and `kinds`.
        forms: for each block and code point in it, the index in `texts` of the form in the other case.
        kinds: 1 for letters with case, 2 for characters that the search for the end of a word skips, and 0 for others.
        texts: the forms in UTF-8.
    """

    blocks: Array
    forms: Array
    kinds: Array
    texts: tuple[bytes, ...]


@cache
def _tables(*, upper: bool) -> _Tables:
    texts: dict[str, int] = {"": 0}
    forms, kinds = np.zeros(_LIMIT, np.int32), np.zeros(_LIMIT, np.int32)
    for code in (*range(0xD800), *range(0xE000, _LIMIT)):
        character = chr(code)
        other = character.upper() if upper else character.lower()
        if other != character:
            forms[code] = texts.setdefault(other, len(texts))
        if character.isupper() or character.islower() or character.istitle():
            kinds[code] = 1
        elif not upper and not character.isalnum() and f"A{character}\u03a3".lower().endswith(_FINAL_SIGMA):
            kinds[code] = 2
    rows = np.concatenate([forms.reshape(-1, _BLOCK), kinds.reshape(-1, _BLOCK)], axis=1)
    different, blocks = np.unique(rows, axis=0, return_inverse=True)
    encoded = tuple(text.encode() for text in (*texts, _FINAL_SIGMA))
    return _Tables(blocks.reshape(-1).astype(np.int32), different[:, :_BLOCK], different[:, _BLOCK:], encoded)


def changed(op: OpBuilder, x: Texts, *, upper: bool) -> SSAValue:
    """Strings in upper or, without `upper`, lower case."""
    tables = _tables(upper=upper)
    flattened = Texts(flat(op, x.begins), flat(op, x.ends), x.symbols)
    texts, forms = together(op, [flattened, constant_texts(op, tables.texts)])
    size = size_of(op, x.symbols)
    positions = one_by_one(op, size)
    code, width = _characters(op, x.symbols, positions)
    is_start = op.Greater(width, int32(0))
    block = op.Multiply(op.Gather(tables.blocks, op.Divide(code, int32(_BLOCK), m_pythondiv=False), 0), int32(_BLOCK))
    entry = op.Add(block, op.FloorMod(code, int32(_BLOCK)))
    form = op.Select(is_start, op.Gather(tables.forms.reshape(-1), entry, 0), int32(0))
    if not upper:
        kind = op.Select(is_start, op.Gather(tables.kinds.reshape(-1), entry, 0), int32(2))
        ends_word = _ends_word(op, flattened, kind, positions)
        is_final = op.LogicalAnd(op.Equal(code, int32(_SIGMA)), op.LogicalAnd(is_start, ends_word))
        form = op.Select(is_final, int32(len(tables.texts) - 1), form)
    # A character with another form is replaced at its first byte; its other bytes are left out.
    starts = positions_where(op, is_start)
    latest = op.Maximum(op.Subtract(ranks(op, starts, op.Add(positions, int32(1))), int32(1)), int32(0))
    own = op.Gather(with_sentinel(op, starts, int32(0)), latest, 0)
    distance = op.Subtract(positions, own)
    is_inside = op.LogicalAnd(op.Greater(distance, int32(0)), op.Less(distance, op.Gather(width, own, 0)))
    has_form, is_left_out = op.Greater(form, int32(0)), op.LogicalAnd(is_inside, op.Greater(op.Gather(form, own, 0), int32(0)))
    begins = op.Select(has_form, op.Gather(forms.begins, form, 0), positions)
    kept = op.Select(is_left_out, int32(0), int32(1))
    lengths = op.Select(has_form, op.Gather(op.Subtract(forms.ends, forms.begins), form, 0), kept)
    sums = op.Concat(int32([0]), op.CumSum(lengths, 0), axis=0)
    symbols = with_sentinel(op, contiguous(op, Texts(begins, op.Add(begins, lengths), texts.symbols)).symbols, np.zeros(1, np.uint8))
    limits = [op.Reshape(op.Gather(sums, each, 0), shape_value(op, x.begins), special_zero=False) for each in flattened[:2]]
    return op.StringTensorPack(*limits, symbols)


def _characters(op: OpBuilder, symbols: SSAValue, positions: SSAValue) -> tuple[SSAValue, SSAValue]:
    """For each byte of `symbols` the code point of the character that begins there, and the size of the character in
    bytes.

    The size is 0 for a byte that begins no character.
    """
    after = op.Concat(op.convert(symbols, si32), int32([0, 0, 0]), axis=0)
    first, *others = (op.Gather(after, op.Add(positions, int32(offset)), 0) for offset in range(4))
    second, third, fourth = (op.FloorMod(each, int32(64)) for each in others)
    two = op.Add(op.Multiply(op.FloorMod(first, int32(32)), int32(64)), second)
    three = op.Add(op.Multiply(op.Add(op.Multiply(op.FloorMod(first, int32(16)), int32(64)), second), int32(64)), third)
    four = op.Add(op.Multiply(op.FloorMod(first, int32(8)), int32(2**18)), op.Multiply(second, int32(2**12)))
    four = op.Add(op.Add(four, op.Multiply(third, int32(64))), fourth)
    limits = [(0x80, first, 1), (0xC0, int32(0), 0), (0xE0, two, 2), (0xF0, three, 3)]
    code, width = four, op.Add(op.Multiply(first, int32(0)), int32(4))
    for limit, value, count in reversed(limits):
        is_below = op.Less(first, int32(limit))
        code, width = op.Select(is_below, value, code), op.Select(is_below, int32(count), width)
    return op.Minimum(code, int32(_LIMIT - 1)), width


def _ends_word(op: OpBuilder, texts: Texts, kind: SSAValue, positions: SSAValue) -> SSAValue:
    """For each byte, whether a letter with case precedes it in its string and none follows; skipped characters do not
    count.

    `kind` is the kind of each byte, see `_Tables`.
    """
    counted = positions_where(op, op.NotEqual(kind, int32(2)))
    before = op.Subtract(ranks(op, counted, positions), int32(1))
    cased, count = with_sentinel(op, counted, int32(0)), size_of(op, counted)
    string = owner(op, texts.ends, positions)
    first, last = (op.Gather(with_sentinel(op, each, int32(0)), string, 0) for each in texts[:2])

    def is_letter(index: SSAValue, is_there: SSAValue) -> SSAValue:
        cased_index = op.Gather(cased, op.Maximum(op.Minimum(index, count), int32(0)), 0)
        is_inside = op.LogicalAnd(op.GreaterEqual(cased_index, first), op.Less(cased_index, last))
        has_case = op.Equal(op.Gather(kind, op.Minimum(cased_index, op.Subtract(size_of(op, kind), int32(1))), 0), int32(1))
        return op.LogicalAnd(op.convert(is_there, boolean), op.LogicalAnd(is_inside, has_case))

    after = op.Add(before, int32(2))
    precedes, follows = is_letter(before, op.GreaterEqual(before, int32(0))), is_letter(after, op.Less(after, count))
    return op.LogicalAnd(precedes, op.LogicalNot(follows))
