"""Strings by their bytes: concatenation and splitting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import si64, string
from moir.dialects.shapes import broadcast_shapes, element_count, shape_of
from moir.expansions.strings.pieces import limited, overlaps, pieces, without_empty
from moir.expansions.strings.texts import (
    Texts,
    concatenated,
    flat,
    int32,
    one_by_one,
    packed,
    shape_value,
    together,
    unpacked,
    with_sentinel,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

MAXIMUM_TEXT = 1 << 20
"""Maximum number of characters of strings that are concatenated at once."""


def broadcast_pair(op: OpBuilder, x: SSAValue, y: SSAValue) -> tuple[Texts, Texts, SSAValue]:
    """The strings of two tensors, broadcast and flattened, with all bytes in one 1-D tensor, and their shape."""
    both = together(op, [unpacked(op, each) for each in (x, y)])
    shape = op.ShapeOf(op.Add(both[0].begins, both[1].begins))
    first, second = (
        Texts(flat(op, op.Broadcast(texts.begins, shape)), flat(op, op.Broadcast(texts.ends, shape)), texts.symbols) for texts in both
    )
    return first, second, shape


def _longest(texts: Array) -> int:
    """The length of the longest string of an array."""
    return max((len(str(text)) for text in texts.ravel()), default=0)


@onnx.lowers("StringConcat")
def concatenation(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """onnx.StringConcat(a, b) -> opset15.StringTensorPack of the bytes of each a and b"""
    a, b = op.known.constant(x), op.known.constant(y)
    if a is not None and b is not None:
        broadcast_shapes(a.shape, b.shape)  # raises InferenceError for shapes that do not fit
        # Repeated concatenation of a string with itself has no limit; longer strings are left to folding, which has a
        # budget.
        if max(a.size, b.size) * (_longest(a) + _longest(b)) <= MAXIMUM_TEXT:
            return op.constant(np.asarray(a.astype(object) + b.astype(object), object), string)
    if 0 in (element_count(shape_of(x)), element_count(shape_of(y))):
        # Not all targets compute tensors of strings without elements.
        zeros = op.Broadcast(op.Broadcast(op.constant(0, si64), shape_value(op, x)), shape_value(op, y), mode="bidirectional")
        return op.Gather(op.constant(np.array([""], object), string), zeros, 0)
    first, second, shape = broadcast_pair(op, x, y)
    begins, ends = (op.Concat(*(op.Unsqueeze(each, [-1]) for each in pair), axis=-1) for pair in zip(first[:2], second[:2], strict=True))
    return concatenated(op, Texts(begins, ends, first.symbols), shape)


@onnx.lowers("StringSplit", since=20)
def split(node: LoweringNode, op: OpBuilder, x: SSAValue, *, maxsplit: int | None = None, delimiter: str = "") -> Sequence[SSAValue]:
    """onnx.StringSplit(x) {delimiter, maxsplit}
    -> the substrings of each string, padded with empty strings, and their number
    """
    separator = delimiter.encode()
    if overlaps(separator):
        node.fail("occurrences of the delimiter can overlap", hint="use a text that does not end as it begins")
    static_shape = shape_of(x)
    if element_count(static_shape) == 0 and static_shape is not None:
        return [op.constant(np.zeros((*static_shape, 0), object), string), op.constant(np.zeros(static_shape, np.int64))]
    strings = unpacked(op, x)
    texts = Texts(flat(op, strings.begins), flat(op, strings.ends), strings.symbols)
    parts = pieces(op, texts, separator, limit=maxsplit if separator else None)
    if not separator:
        parts = without_empty(op, parts)
        if maxsplit is not None:
            parts = limited(op, texts, parts, maxsplit)
    one, shape = int32(1), op.ShapeOf(strings.begins)
    zeros = op.Multiply(texts.begins, int32(0))
    rows = op.Unsqueeze(parts.row, [1])
    counts = op.ScatterNDUpdate(zeros, rows, op.Add(op.Multiply(parts.row, int32(0)), one), reduction="sum")
    longest = op.ReduceMax(with_sentinel(op, counts, int32(0)), [0], keep_dims=True)
    empty = op.Multiply(op.Unsqueeze(zeros, [1]), op.Unsqueeze(one_by_one(op, op.Squeeze(longest, [0])), [0]))
    indices = op.Concat(rows, op.Unsqueeze(parts.column, [1]), axis=1)
    begins, ends = (op.ScatterNDUpdate(empty, indices, each) for each in (parts.start, parts.stop))
    result = packed(op, Texts(begins, ends, texts.symbols), op.Concat(shape, op.convert(longest, si64), axis=0))
    return [result, op.convert(op.Reshape(counts, shape, special_zero=False), si64)]
