"""Counts of n-grams in sequences of tokens.

    %y = onnx.TfIdfVectorizer(%x) {pool_int64s = [2, 3, 5, 4], ngram_counts = [0, 2], …}   // 1-grams 2, 3; 2-gram 5 4
->  %0 = opset1.Equal(%x, [2, 3])
    %1 = the sum of %0 over the tokens
    …
    %y = opset1.MatMul(Concat(%1, …), one-hot rows with the index of each n-gram in the result)
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si32, string
from moir.dialects.shapes import shape_of, size_along
from moir.expansions.lookups import encoded, string_position
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

MOST_COMPARISONS = 1 << 14
"""Maximum number of operations that compare tokens: one for each token of an n-gram, at each distance."""

MOST_POSITIONS = 1 << 26
"""Maximum number of elements of the one-hot matrix [n-grams, result]."""

MODES = ("TF", "IDF", "TFIDF")


@onnx.lowers("TfIdfVectorizer")
def n_gram_counts(
    node: LoweringNode,
    op: OpBuilder,
    *,
    mode: str,
    ngram_indexes: tuple[int, ...],
    min_gram_length: int,
    max_gram_length: int,
    max_skip_count: int,
) -> SSAValue:
    """onnx.TfIdfVectorizer(x) {mode, pool_int64s, ngram_counts, ngram_indexes, min_gram_length, …}
    -> opset1.MatMul(counts of each n-gram, one-hot rows with its index in the result)

    The indices of neighbouring tokens of an n-gram differ by up to max_skip_count + 1. x is [C] or a batch [N, C].
    """
    if mode not in MODES:
        node.fail(f"attribute mode is {mode!r}, it should be one of {', '.join(MODES)}")
    if max_skip_count < 0:
        node.fail(f"max_skip_count is {max_skip_count}, it should be at least 0")
    x, pool = _tokens(node, op)
    counts: list[SSAValue] = []
    columns: list[int] = []
    first, comparisons, length = 0, 0, size_along(shape_of(x) or (-1,), -1)
    for n, grams in enumerate(_pools(node, pool), 1):
        most = 1 if n == 1 else max_skip_count + 1
        if length > 0 and n > 1:
            # Distances for which x is known to be too short have no n-grams.
            most = min(most, (length - 1) // (n - 1))
        if min_gram_length <= n <= max_gram_length and len(grams) and most:
            comparisons += n * most
            if comparisons > MOST_COMPARISONS:
                reason = f"n-grams of up to {n} tokens at {most} distances take more than {MOST_COMPARISONS} comparisons"
                node.fail(reason, hint="use a smaller max_skip_count or max_gram_length")
            occurrences = [_occurrences(op, x, grams, distance) for distance in range(1, most + 1)]
            counts.append(op.convert(op.ReduceSum(op.Concat(*occurrences, axis=-2), [-2]), f32))
            columns.extend(ngram_indexes[first : first + len(grams)])
        first += len(grams)
    if first != len(ngram_indexes) or not counts or min(ngram_indexes) < 0:
        node.fail(f"ngram_indexes has {len(ngram_indexes)} indices for {first} n-grams, or no n-gram has a length that is counted")
    size = max(ngram_indexes) + 1
    if size * len(columns) > MOST_POSITIONS:
        node.fail(f"{len(columns)} n-grams have indices up to {size - 1} in the result", hint="use indices without gaps")
    matrix = np.zeros((len(columns), size), np.float32)
    matrix[np.arange(len(columns)), columns] = 1
    result = op.MatMul(op.Concat(*counts, axis=-1), matrix)
    if mode == "IDF":
        result = op.Minimum(result, 1.0)
    if mode == "TF" or not node.has("weights"):
        return result
    weights = node.numbers("weights")
    if len(weights) != len(ngram_indexes):
        node.fail(f"it has {len(weights)} weights for {len(ngram_indexes)} n-grams")
    of_columns = np.zeros(size, np.float32)
    of_columns[list(ngram_indexes)] = weights
    return op.Multiply(result, of_columns)


def _tokens(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, Array]:
    """The tokens of x and those of all n-grams, numbered by integers; a token of x that is in no n-gram is -1."""
    if node.element(0) != string:
        return node.operand(0), np.array(node.integers("pool_int64s"), np.int64)
    tokens = list(encoded(np.array(node.texts("pool_strings"), object)))
    ids = {token: id_ for id_, token in enumerate(dict.fromkeys(tokens))}
    return string_position(op, node.operand(0), list(ids)), np.array([ids[token] for token in tokens], np.int64)


def _pools(node: LoweringNode, pool: Array) -> list[Array]:
    """The n-grams of each length n = 1, 2, … as arrays [count, n]."""
    starts = [*node.integers("ngram_counts")]
    bounds = [*starts, pool.size]
    parts = [pool[begin:end] for begin, end in pairwise(bounds)]
    if any(part.size % length for length, part in enumerate(parts, 1)):
        node.fail("ngram_counts does not divide the pool into n-grams")
    return [part.reshape(-1, length) for length, part in enumerate(parts, 1)]


def _occurrences(op: OpBuilder, x: SSAValue, grams: Array, distance: int) -> SSAValue:
    """1 where an n-gram, whose tokens are `distance` apart, begins in x: [..., windows, n-grams] of i32."""
    size = grams.shape[1]
    matches: SSAValue | None = None
    for index in range(size):
        after = (size - 1 - index) * distance
        tokens = op.Slice(x, [index * distance], [-after if after else np.iinfo(np.int32).max], [1], [-1])
        equal = op.Equal(op.Unsqueeze(tokens, [-1]), op.constant_like(grams[:, index], x))
        matches = equal if matches is None else op.LogicalAnd(matches, equal)
    assert matches is not None
    return op.convert(matches, si32)
