"""Texts as indices of the words in a vocabulary.

    %y = keras.TextVectorization(%x) {vocabulary = ["day", "good"], output_sequence_length = 3}
->  lower case, without punctuation, split at white space: the index of each word among the keys, then zeros
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32, si64
from moir.expansions.lookups import string_position
from moir.expansions.strings.pieces import pieces, without_empty
from moir.expansions.strings.texts import (
    Texts,
    flat,
    int32,
    is_one_of,
    one_by_one,
    packed,
    positions_where,
    size_of,
    unpacked,
    with_sentinel,
)
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.policies import counted_type, weighted_type
from moir.lowering.keras.preprocessing import vocabulary_of
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder

PUNCTUATION = b"!\"#$%&()*+,-./:;<=>?@[\\]^_`{|}~'"
"""The characters that Keras strips."""

HINT = "cut the model after this layer with --input, or write a lowering for it"


def in_lower_case(op: OpBuilder, texts: Texts) -> Texts:
    """Strings with the letters A to Z in lower case."""
    symbols = texts.symbols
    is_letter = op.LogicalAnd(op.GreaterEqual(symbols, ord("A")), op.LessEqual(symbols, ord("Z")))
    return Texts(texts.begins, texts.ends, op.Select(is_letter, op.Add(symbols, 32), symbols))


def without_characters(op: OpBuilder, texts: Texts, characters: Sequence[int]) -> Texts:
    """Strings with the given bytes removed."""
    kept = op.LogicalNot(is_one_of(op, texts.symbols, characters))
    before = op.Concat(int32([0]), op.CumSum(op.convert(kept, si32), 0), axis=0)
    symbols = with_sentinel(op, op.Gather(texts.symbols, positions_where(op, kept), 0), np.zeros(1, np.uint8))
    return Texts(op.Gather(before, texts.begins, 0), op.Gather(before, texts.ends, 0), symbols)


def standardized(node: LoweringNode, op: OpBuilder, texts: Texts, standardize: object) -> Texts:
    """Strings after a layer's option `standardize`: in lower case, without punctuation, or both; unchanged for None.

    Raises ConversionError for another value.
    """
    if standardize not in (None, "lower", "strip_punctuation", "lower_and_strip_punctuation"):
        node.fail(f"the function {standardize!r} that standardizes texts is not in the file", hint=HINT)
    name = str(standardize)
    if "lower" in name:
        texts = in_lower_case(op, texts)
    return without_characters(op, texts, PUNCTUATION) if "strip_punctuation" in name else texts


def split_words(node: LoweringNode, op: OpBuilder, texts: Texts, split: object) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The words of strings: for each the index of its string, its index within the string, and the word.

    Strings are split at white space; if `split` is None, each string is one word. Raises ConversionError for another
    option.
    """
    strings = Texts(flat(op, texts.begins), flat(op, texts.ends), texts.symbols)
    if split == "whitespace":
        tokens = without_empty(op, pieces(op, strings, b""))
        return tokens.row, tokens.column, packed(op, Texts(tokens.start, tokens.stop, strings.symbols))
    if split is None:
        rows = one_by_one(op, size_of(op, strings.begins))
        return rows, op.Multiply(rows, int32(0)), packed(op, strings)
    return node.fail(f"texts that are split by {split!r} are not supported", hint="split them at white space")


@keras.lowers("TextVectorization")
def text_vectorization(
    node: LoweringNode,
    op: OpBuilder,
    inputs: SSAValue,
    *,
    standardize: object | None = None,
    split: object | None = None,
    ngrams: object | None = None,
    output_mode: str = "int",
    output_sequence_length: int = 0,
    idf_weights: object | None = None,
) -> SSAValue:
    """keras.TextVectorization(x) {vocabulary, output_mode} -> indices of words in the vocabulary, counts, or weights"""
    if ngrams is not None:
        node.fail("sequences of words (ngrams) are not supported", hint=HINT)
    keys = _keys(node)
    rank = node.known_rank(0)
    if rank > 1 and (node.shape(0) or (-1,))[-1] != 1:
        node.fail("its texts have more than one dimension", hint="give it a 1-D tensor of texts")
    texts = standardized(node, op, unpacked(op, inputs), standardize)
    row, column, strings = split_words(node, op, texts, split)
    count = size_of(op, flat(op, texts.begins))
    # One word is appended to the last row and sliced off again, so that the tensor of words is never empty.
    row, column = (with_sentinel(op, each, int32(0)) for each in (row, op.Add(column, int32(1))))
    columns = op.constant(output_sequence_length, si32) if output_sequence_length > 0 else op.ReduceMax(column, [0], keep_dims=False)
    column = op.Subtract(column, int32(1))
    is_cut = op.LogicalOr(op.Less(column, int32(0)), op.GreaterEqual(column, columns))
    column = op.Select(is_cut, columns, column)
    positions = with_sentinel(op, string_position(op, strings, keys), int32(0))
    first = 2 if output_mode == "int" else 1
    values = op.Add(positions, int32(first))
    values = op.Select(op.Less(positions, int32(0)), int32(first - 1), values)
    filler = 0 if output_mode == "int" else -1
    shape = op.Concat(op.Reshape(count, [1], special_zero=False), op.Reshape(op.Add(columns, int32(1)), [1], special_zero=False), axis=0)
    table = op.Broadcast(int32(filler), op.convert(shape, si64))
    indices = op.Concat(op.Unsqueeze(row, [1]), op.Unsqueeze(column, [1]), axis=1)
    table = op.ScatterNDUpdate(table, indices, values)
    table = op.Slice(table, [0], op.Reshape(op.convert(columns, si64), [1], special_zero=False), [1], [1])
    if output_mode == "int":
        if output_sequence_length > 0:
            table = op.Reshape(table, [-1, output_sequence_length], special_zero=False)
        return op.convert(table, si64)
    return _counted(node, op, table, output_mode, len(keys) + 1, idf_weights)


def _keys(node: LoweringNode) -> list[bytes]:
    """The words of the vocabulary; the special entries at the start of a vocabulary from an asset are left out."""
    entries = [str(each) for each in vocabulary_of(node)]
    while entries and entries[0] in ("", "[UNK]"):
        entries.pop(0)
    return [each.encode() for each in entries]


def _counted(node: LoweringNode, op: OpBuilder, table: SSAValue, mode: str, size: int, idf_weights: object) -> SSAValue:
    """For each text a vector of its words, as the mode of the layer says: multi-hot, counts, or sums of the words'
    weights.

    `table` has the indices of the words of each text, `size` is the number of indices. Raises ConversionError for
    another mode, or if the weights are missing.
    """
    depth = int(cast(Any, node.attribute("max_tokens", None)) or size) if node.flag("pad_to_max_tokens") else size
    vectors = op.OneHot(table, depth, op.constant(np.array(1, np.float32)), op.constant(np.array(0, np.float32)), axis=-1)
    if mode == "multi_hot":
        return op.convert(op.ReduceMax(vectors, [1], keep_dims=False), counted_type(node))
    counts = op.ReduceSum(vectors, [1], keep_dims=False)
    if mode == "tf_idf":
        weights = np.asarray(idf_weights if idf_weights is not None else (), np.float32).reshape(-1)
        if weights.size == size - 1:
            weights = np.append(weights.mean(), weights)
        if weights.size != size:
            node.fail("the weights of its words are not in the file", hint="adapt the layer before the model is saved")
        return op.convert(op.Multiply(counts, op.constant(np.pad(weights, (0, depth - size)), f32)), weighted_type(node))
    if mode != "count":
        node.fail(f"the output mode {mode!r} is not supported", hint="use int, multi_hot, count or tf_idf")
    return op.convert(counts, counted_type(node))
