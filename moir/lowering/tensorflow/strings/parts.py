"""Lengths, substrings and joins of strings, computed from their bytes.

A tensor of strings is unpacked into its bytes and the begin and end of each string; results are packed again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si32, si64
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.shape_values import as_scalar
from moir.expansions.strings.pieces import overlaps, pieces, rows_and_columns, with_rest, without_empty
from moir.expansions.strings.texts import (
    Texts,
    concatenated,
    constant_texts,
    contiguous,
    flat,
    int32,
    one_by_one,
    packed,
    ranks,
    shape_value,
    size_of,
    stripped,
    together,
    unpacked,
    with_sentinel,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder


@tf.lowers("StringLength")
def string_length(op: OpBuilder, input: SSAValue, *, unit: str = "BYTE") -> SSAValue:
    """tf.StringLength(x) {unit}
    -> ends - begins of opset15.StringTensorUnpack(x); for UTF8_CHAR the number of first bytes of characters
    """
    begins, ends, symbols = op.StringTensorUnpack.results(input)
    if unit == "BYTE":
        return op.Subtract(ends, begins)
    # Bytes 10xxxxxx continue a character. The running sums begin with 0.
    starts = op.Convert(op.LogicalOr(op.Less(symbols, 0x80), op.GreaterEqual(symbols, 0xC0)), destination_type=si32)
    sums = op.Concat(np.zeros(1, np.int32), op.CumSum(starts, 0), axis=0)
    return op.Subtract(op.Gather(sums, ends, 0), op.Gather(sums, begins, 0))


@tf.lowers("StringLower", "StringUpper")
def changed_case(node: LoweringNode, op: OpBuilder, input: SSAValue, *, encoding: str = "") -> SSAValue:
    """tf.StringLower(x)
    -> opset15.StringTensorPack of the bytes of x, with 32 added to A to Z (StringUpper: subtracted from a to z)

    With the encoding utf-8, a table maps all letters of Unicode.
    """
    lowers = node.op.KIND == "StringLower"
    if encoding:
        from moir.lowering.tensorflow.strings.letter_case import changed

        if encoding.lower() not in ("utf-8", "utf8"):
            node.fail(f"the encoding {encoding!r} is not known", hint="use utf-8, or leave it out")
        node.note("letters have the forms of the Unicode that Python knows: recently assigned characters may differ")
        return changed(op, unpacked(op, input), upper=not lowers)
    begins, ends, symbols = op.StringTensorUnpack.results(input)
    first, last = (ord("A"), ord("Z")) if lowers else (ord("a"), ord("z"))
    is_letter = op.LogicalAnd(op.GreaterEqual(symbols, first), op.LessEqual(symbols, last))
    other = op.Add(symbols, 32) if lowers else op.Subtract(symbols, 32)
    return op.StringTensorPack(begins, ends, op.Select(is_letter, other, symbols))


@tf.lowers("Substr")
def substring(node: LoweringNode, op: OpBuilder, input: SSAValue, *, unit: str = "BYTE") -> SSAValue:
    """tf.Substr(x, pos, len)
    -> opset15.StringTensorPack(begin + pos, min(begin + pos + len, end), bytes); negative pos counts from the end
    """
    if unit != "BYTE":
        node.fail("characters of several bytes cannot be counted here", hint="use the unit BYTE, or do this before the model")
    begins, ends, symbols = op.StringTensorUnpack.results(input)
    position, length = (op.convert(node.operand(index), si32) for index in (1, 2))
    from_end = op.convert(op.Less(position, 0), boolean)
    start = op.Add(op.Select(from_end, ends, begins), position)
    start = op.Minimum(op.Maximum(start, begins), ends)
    return op.StringTensorPack(start, op.Minimum(op.Add(start, length), ends), symbols)


@tf.lowers("StringStrip")
def strip(op: OpBuilder, input: SSAValue) -> SSAValue:
    """tf.StringStrip(x) -> the bytes from the first to the last one that is not white space"""
    return packed(op, stripped(op, unpacked(op, input)))


# Joining


def interleaved(op: OpBuilder, begins: SSAValue, ends: SSAValue, separator: Texts) -> Texts:
    """Strings [n, k] with the separator as a further string before each but the first of a row: strings [n, 2 k].

    `begins` and `ends` are offsets into the bytes of `separator`, which contain the strings' bytes, too.
    """
    shape = op.ShapeOf(begins)
    is_first = op.Equal(one_by_one(op, op.Gather(op.ShapeOf(begins, output_type=si32), 1, 0)), int32(0))
    start = op.Broadcast(op.Squeeze(separator.begins, [0]), shape)
    stop = op.Select(is_first, start, op.Squeeze(separator.ends, [0]))
    merged = op.Multiply(shape, [1, 2])
    pairs = [op.Concat(op.Unsqueeze(a, [2]), op.Unsqueeze(b, [2]), axis=2) for a, b in ((start, begins), (stop, ends))]
    starts, stops = (op.Reshape(each, merged, special_zero=False) for each in pairs)
    return Texts(starts, stops, separator.symbols)


@tf.lowers("StringJoin")
def join(node: LoweringNode, op: OpBuilder, *inputs: SSAValue, separator_: str = "") -> SSAValue:
    """tf.StringJoin(a, b, …) {separator} -> the bytes of a, the separator, the bytes of b, …"""
    operands = inputs
    if not operands:
        node.fail("it has no operands")
    *texts, separator = together(op, [*(unpacked(op, each) for each in operands), constant_texts(op, [separator_.encode()])])
    largest = next((each for each in texts if rank_of(each.begins) != 0), texts[0])
    shape = shape_value(op, largest.begins)
    columns = [
        [op.Unsqueeze(flat(op, each if rank_of(each) == rank_of(largest.begins) else op.Broadcast(each, shape)), [1]) for each in pair]
        for pair in ((text.begins for text in texts), (text.ends for text in texts))
    ]
    begins, ends = (op.Concat(*each, axis=1) if len(each) > 1 else each[0] for each in columns)
    return concatenated(op, interleaved(op, begins, ends, separator), shape)


@tf.lowers("ReduceJoin")
def join_along_axes(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, reduction_indices: SSAValue, *, keep_dims: bool = False, separator_: str = ""
) -> SSAValue:
    """tf.ReduceJoin(inputs, axes) {separator, keep_dims} -> the bytes of the strings along the axes"""
    rank = node.known_rank(0)
    axes = op.known.integers(reduction_indices)
    if axes is None:
        node.fail("the axes are computed when the model runs", hint="make them a constant")
    reduced = [normalize_axis(axis, rank) for axis in axes]
    if not reduced:
        return inputs
    kept = [axis for axis in range(rank) if axis not in reduced]
    texts, separator = together(op, [unpacked(op, inputs), constant_texts(op, [separator_.encode()])])
    sizes = op.ShapeOf(inputs)
    shape = op.Gather(sizes, kept, 0) if kept else op.constant([])
    count = op.ReduceProd(op.Gather(sizes, reduced, 0), [0], keep_dims=True)
    table = op.Concat(op.ReduceProd(shape, [0], keep_dims=True) if kept else [1], count, axis=0)
    # The first one of the axes varies fastest.
    order = [*kept, *reversed(reduced)]
    begins, ends = (op.Reshape(op.transposed(each, order), table, special_zero=False) for each in texts[:2])
    if keep_dims:
        shape = op.Select(np.isin(np.arange(rank), reduced), 1, sizes)
    # An empty row gives an empty string: a piece without bytes is added to each row.
    pieces = interleaved(op, begins, ends, separator)
    empty = op.Broadcast(int32(0), op.Concat(op.Gather(table, [0], 0), [1], axis=0))
    padded = Texts(op.Concat(pieces.begins, empty, axis=1), op.Concat(pieces.ends, empty, axis=1), pieces.symbols)
    return concatenated(op, padded, shape)


@tf.lowers("UnsortedSegmentJoin")
def join_segments(
    node: LoweringNode, op: OpBuilder, inputs: SSAValue, segment_ids: SSAValue, num_segments: SSAValue, *, separator_: str = ""
) -> SSAValue:
    """tf.UnsortedSegmentJoin(x, segments, n) {separator}
    -> the bytes of the strings, sorted by their segments, with separators between those of the same segment

    As in TensorFlow, empty strings at the beginning of a segment are not followed by a separator.
    """
    if rank_of(inputs) != node.known_rank(1):
        node.fail("segments of rows are not supported for strings", hint="give each string a segment of its own")
    texts, separator = together(op, [unpacked(op, inputs), constant_texts(op, [separator_.encode()])])
    segments = flat(op, op.convert(segment_ids, si32))
    sorted_segments, order = op.TopK.results(
        segments, size_of(op, segments), axis=0, mode="min", sort="value", stable=True, index_element_type=si32
    )
    begins, ends = (op.Unsqueeze(op.Gather(flat(op, each), order, 0), [1]) for each in texts[:2])
    previous = op.Gather(op.Concat(int32([-1]), sorted_segments, axis=0), one_by_one(op, size_of(op, sorted_segments)), 0)
    start = op.Broadcast(op.Squeeze(separator.begins, [0]), op.ShapeOf(sorted_segments))
    before = op.CumSum(op.Squeeze(op.Subtract(ends, begins), [1]), 0, exclusive=True)
    has_begun = op.Greater(before, op.Gather(before, ranks(op, sorted_segments, sorted_segments), 0))
    stop = op.Select(op.LogicalAnd(op.Equal(previous, sorted_segments), has_begun), op.Squeeze(separator.ends, [0]), start)
    starts, stops = (op.Concat(op.Unsqueeze(a, [1]), b, axis=1) for a, b in ((start, begins), (stop, ends)))
    lengths = op.ReduceSum(op.Subtract(stops, starts), [1], keep_dims=False)
    symbols = with_sentinel(op, contiguous(op, Texts(starts, stops, texts.symbols)).symbols, np.zeros(1, np.uint8))
    sums = op.Concat(int32([0]), op.CumSum(lengths, 0), axis=0)
    segment_range = one_by_one(op, op.convert(as_scalar(op, num_segments), si32))
    limits = [op.Gather(sums, ranks(op, sorted_segments, each), 0) for each in (segment_range, op.Add(segment_range, int32(1)))]
    # Strings of negative segments are dropped; their bytes come first.
    return packed(op, Texts(limits[0], limits[1], symbols))


# Splitting


@tf.lowers("StringSplit", "StringSplitV2")
def split(
    node: LoweringNode, op: OpBuilder, input: SSAValue, separator_: SSAValue, *, maxsplit: int = -1, skip_empty: bool = True
) -> Sequence[SSAValue]:
    """tf.StringSplitV2(x, separator) -> coordinates, strings and shape of the parts of each string

    The parts end at occurrences of the separator; an empty separator means white space of any length. In StringSplit
    each byte of the separator is a separator. A positive `maxsplit` limits the number of splits; with 0 strings are not
    split.
    """
    constant = op.known.constant(separator_)
    if constant is None or constant.size != 1:
        node.fail("the separator is computed when the model runs", hint="make it a constant")
    separator = str(constant.reshape(-1)[0]).encode()
    is_first = node.op.KIND == "StringSplit"
    texts = unpacked(op, input)
    if is_first and not separator:
        return bytes_of(node, op, texts)
    if not is_first and overlaps(separator):
        node.fail("occurrences of the text can overlap", hint="use a text that does not end as it begins")
    if not maxsplit:
        ones = op.Add(op.Multiply(texts.begins, int32(0)), int32(1))
        return sparse_texts(node, op, *rows_and_columns(op, ones), texts, texts.begins)
    limit = maxsplit if maxsplit > 0 and separator else None
    parts = pieces(op, texts, separator, any_byte=is_first, none_of_empty=is_first, limit=limit)
    if skip_empty if is_first else not separator:
        parts = without_empty(op, parts)
        if maxsplit > 0:
            parts = with_rest(op, texts, parts, maxsplit)
    return sparse_texts(node, op, parts.row, parts.column, Texts(parts.start, parts.stop, texts.symbols), texts.begins)


def bytes_of(node: LoweringNode, op: OpBuilder, texts: Texts) -> Sequence[SSAValue]:
    """Each byte of each string as a separate string, in a sparse matrix with a row for each of the strings."""
    row, column = rows_and_columns(op, op.Subtract(texts.ends, texts.begins))
    start = op.Add(op.Gather(texts.begins, row, 0), column)
    return sparse_texts(node, op, row, column, Texts(start, op.Add(start, int32(1)), texts.symbols), texts.begins)


def sparse_texts(node: LoweringNode, op: OpBuilder, row: SSAValue, column: SSAValue, parts: Texts, strings: SSAValue) -> Sequence[SSAValue]:
    """The results of a node for a sparse matrix of strings: coordinates, values and shape.

    Args:
        node: the node.
        op: the builder.
        row, column: the coordinates of the values.
        parts: the values.
        strings: a tensor with an element for each row.
    """
    longest = op.ReduceMax(with_sentinel(op, op.Add(column, int32(1)), int32(0)), [0], keep_dims=True)
    shape = op.Concat(op.ShapeOf(strings), op.convert(longest, si64), axis=0)
    coordinates = op.Concat(op.Unsqueeze(row, [1]), op.Unsqueeze(column, [1]), axis=1)
    return [op.convert(coordinates, si64), packed(op, parts), shape][: node.result_count]


@tf.lowers("StringNGrams")
def sequences(
    node: LoweringNode,
    op: OpBuilder,
    data_: SSAValue,
    data_splits: SSAValue,
    *,
    preserve_short_sequences: bool = False,
    ngram_widths: tuple[int, ...],
    pad_width: int = 0,
) -> Sequence[SSAValue]:
    """tf.StringNGrams(x, splits) {ngram_widths, separator, left_pad, right_pad, pad_width}
    -> the joined strings of each window of each row, and the row splits of the result

    The strings of a row are padded on both sides. The windows of all rows and widths have consecutive indices: the
    cumulative sums of the counts of windows give the row and the width of each window.
    """
    if preserve_short_sequences:
        node.fail("rows shorter than a window are kept", hint="leave preserve_short_sequences out")
    pads = int32([min(width - 1, pad_width if pad_width >= 0 else width - 1) for width in ngram_widths])
    extra = [node.text(name, "").encode() for name in ("separator", "left_pad", "right_pad")]
    data, constants = together(op, [unpacked(op, data_), constant_texts(op, extra)])
    splits = op.convert(data_splits, si32)
    rows = op.Subtract(size_of(op, splits), int32(1))
    firsts = op.Gather(splits, one_by_one(op, rows), 0)
    sizes = op.Subtract(op.Gather(splits, op.Add(one_by_one(op, rows), int32(1)), 0), firsts)
    counts = op.Maximum(op.Add(op.Unsqueeze(sizes, [1]), int32(2 * pads - np.array(ngram_widths) + 1)), int32(0))
    pair, start = rows_and_columns(op, flat(op, counts))
    row = op.Divide(pair, int32(len(ngram_widths)), m_pythondiv=False)
    kind = op.FloorMod(pair, int32(len(ngram_widths)))
    offsets = int32(np.arange(max(ngram_widths)))
    index = op.Add(op.Unsqueeze(op.Subtract(start, op.Gather(pads, kind, 0)), [1]), offsets)
    size = op.Unsqueeze(op.Gather(sizes, row, 0), [1])
    is_left, is_right = op.Less(index, int32(0)), op.GreaterEqual(index, size)
    inside = op.LogicalNot(op.LogicalOr(is_left, is_right))
    item = op.Select(inside, op.Add(op.Unsqueeze(op.Gather(firsts, row, 0), [1]), index), int32(0))
    is_used = op.Less(offsets, op.Unsqueeze(op.Gather(int32(ngram_widths), kind, 0), [1]))

    def limits(own: SSAValue, fixed: SSAValue) -> SSAValue:
        symbols = op.Gather(with_sentinel(op, own, int32(0)), item, 0)
        return op.Select(is_left, op.Gather(fixed, 1, 0), op.Select(is_right, op.Gather(fixed, 2, 0), symbols))

    begins = limits(data.begins, constants.begins)
    ends = op.Select(is_used, limits(data.ends, constants.ends), begins)
    between = [op.Gather(each, 0, 0) for each in constants[:2]]
    stops = op.Select(op.LogicalAnd(is_used, op.Greater(offsets, int32(0))), between[1], between[0])
    starts = op.Broadcast(between[0], op.ShapeOf(stops))
    shape = np.array([-1, 2 * max(ngram_widths)])
    firsts, lasts = (
        op.Reshape(op.Concat(op.Unsqueeze(a, [2]), op.Unsqueeze(b, [2]), axis=2), shape, special_zero=False)
        for a, b in ((starts, begins), (stops, ends))
    )
    joined = concatenated(op, Texts(firsts, lasts, data.symbols), op.ShapeOf(row))
    sums = op.CumSum(op.ReduceSum(counts, [1], keep_dims=False), 0)
    return [joined, op.convert(op.Concat(int32([0]), sums, axis=0), element_of(data_splits))][: node.result_count]
