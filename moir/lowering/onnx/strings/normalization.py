"""1-D tensors of strings without stop words, in lower or upper case.

Characters are mapped one by one, as Unicode maps them to single characters: ONNX Runtime does the same in the locale
`en_US`. Each character is a range of bytes; characters that change are ranges of a constant tensor of bytes.
"""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, string
from moir.expansions.lookups import string_position
from moir.expansions.strings.texts import (
    Texts,
    constant_texts,
    contiguous,
    flat,
    int32,
    one_by_one,
    packed,
    positions_where,
    ranks,
    size_of,
    together,
    unpacked,
    with_sentinel,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

PLAIN_LOCALES = ("", "en", "de", "fr", "es", "it", "pt", "nl", "ru", "zh", "ja", "ko")
"""Languages in which Unicode's mappings hold for all characters."""


@cache
def mapping(action: str) -> dict[int, str]:
    """A map from code points to the code points of their lower or upper case (`action` LOWER or UPPER).

    Characters that do not change are left out.
    """
    mapped: dict[int, str] = {}
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        changed = character.lower() if action == "LOWER" else character.upper()
        if character == "\u0130" and action == "LOWER":
            changed = "i"
        if changed != character and len(changed) == 1:
            mapped[code] = changed
    return mapped


def changed(text: str, action: str) -> str:
    """A text in lower or upper case, as `action` says; unchanged for NONE."""
    return text if action == "NONE" else "".join(mapping(action).get(ord(each), each) for each in text)


@onnx.lowers("StringNormalizer", since=10)
def string_normalizer(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    case_change_action: str = "NONE",
    stopwords: tuple[str, ...] = (),
    is_case_sensitive: bool = False,
) -> SSAValue:
    """onnx.StringNormalizer(x) {case_change_action, is_case_sensitive, stopwords}
    -> opset15.StringTensorPack of the strings that are not stop words; one empty string if none is left
    """
    language = node.text("locale", "").partition("_")[0].lower()
    if case_change_action not in ("LOWER", "UPPER", "NONE"):
        node.fail(f"case_change_action {case_change_action!r} is not one of LOWER, UPPER, NONE")
    if language not in PLAIN_LOCALES:
        node.fail(f"in the locale {node.text('locale')!r} some characters have other capital letters", hint="leave the locale out")
    rank = node.known_rank(0)
    if rank not in (1, 2):
        node.fail(f"the strings have {rank} dimensions, not 1 or 2")
    stops = stopwords
    known = op.known.constant(x)
    if not is_case_sensitive:
        stops = tuple(changed(stop_word, "LOWER") for stop_word in stops)
    if known is not None:
        left = [str(text) for text in known.ravel() if (str(text) if is_case_sensitive else changed(str(text), "LOWER")) not in stops]
        result = [changed(text, case_change_action) for text in left] or [""]
        return op.constant(np.array(result, object).reshape([1] * (rank - 1) + [-1]), string)
    texts = unpacked(op, x)
    texts = Texts(flat(op, texts.begins), flat(op, texts.ends), texts.symbols)
    kept: SSAValue | None = None
    if stops:
        compared = op.Reshape(x, [-1], special_zero=False)
        if not is_case_sensitive:
            compared = packed(op, in_case(op, texts, "LOWER"))
        kept = positions_where(op, op.Less(string_position(op, compared, [stop_word.encode() for stop_word in stops]), int32(0)))
        texts = Texts(op.Gather(texts.begins, kept, 0), op.Gather(texts.ends, kept, 0), texts.symbols)
        # The result has one empty string if no other string is left.
        count = op.Maximum(size_of(op, kept), int32(1))
        stop = op.Reshape(count, [1], special_zero=False)
        begins, ends = (op.Slice(op.Concat(each, int32([0]), axis=0), int32([0]), stop, int32([1])) for each in texts[:2])
        texts = Texts(begins, ends, texts.symbols)
    if case_change_action != "NONE":
        texts = in_case(op, texts, case_change_action)
    shape = op.ShapeOf(x) if kept is None else op.ShapeOf(texts.begins)
    if kept is not None and rank == 2:
        shape = op.Concat([1], shape, axis=0)
    return packed(op, texts, shape)


def in_case(op: OpBuilder, texts: Texts, action: str) -> Texts:
    """A 1-D tensor of strings in lower or upper case."""
    texts = contiguous(op, texts)
    table = mapping(action)
    codes = np.array(sorted(table), np.int32)
    texts, others = together(op, [texts, constant_texts(op, [table[code].encode() for code in codes.tolist()])])
    size = op.Gather(with_sentinel(op, texts.ends, int32(0)), _last(op, texts.ends), 0)
    positions = one_by_one(op, size)
    symbols = op.convert(op.Concat(texts.symbols, np.zeros(4, np.uint8), axis=0), si32)
    leads = op.Gather(symbols, positions, 0)
    # A byte from 128 to 191 continues a character.
    starts = positions_where(op, op.LogicalOr(op.Less(leads, int32(128)), op.GreaterEqual(leads, int32(192))))
    lead, *following = (op.Gather(symbols, op.Add(starts, int32(offset)), 0) for offset in range(4))
    parts = [op.Subtract(other, int32(128)) for other in following]
    two = op.Add(op.Multiply(op.Subtract(lead, int32(192)), int32(64)), parts[0])
    three = op.Add(op.Multiply(op.Add(op.Multiply(op.Subtract(lead, int32(224)), int32(64)), parts[0]), int32(64)), parts[1])
    head = op.Add(op.Multiply(op.Add(op.Multiply(op.Subtract(lead, int32(240)), int32(64)), parts[0]), int32(64)), parts[1])
    four = op.Add(op.Multiply(head, int32(64)), parts[2])
    code, length = lead, op.Add(op.Multiply(lead, int32(0)), int32(1))
    for limit, value, count in ((192, two, 2), (224, three, 3), (240, four, 4)):
        longer = op.GreaterEqual(lead, int32(limit))
        code, length = op.Select(longer, value, code), op.Select(longer, int32(count), length)
    position = op.Minimum(op.SearchSorted(op.constant(codes), code, output_type=si32), int32(len(codes) - 1))
    is_changed = op.Equal(op.Gather(op.constant(codes), position, 0), code)
    begins = op.Select(is_changed, op.Gather(others.begins, position, 0), starts)
    ends = op.Select(is_changed, op.Gather(others.ends, position, 0), op.Add(starts, length))
    characters = contiguous(op, Texts(begins, ends, texts.symbols))
    total = op.ReduceMax(with_sentinel(op, characters.ends, int32(0)), [0], keep_dims=False)
    edges = with_sentinel(op, characters.begins, total)
    begins, ends = (op.Gather(edges, ranks(op, starts, each), 0) for each in texts[:2])
    return Texts(begins, ends, characters.symbols)


def _last(op: OpBuilder, values: SSAValue) -> SSAValue:
    """The index of the last element of a 1-D tensor, or 0 if it is empty (the index of a sentinel that is appended
    then).
    """
    return op.Maximum(op.Subtract(size_of(op, values), int32(1)), int32(0))
