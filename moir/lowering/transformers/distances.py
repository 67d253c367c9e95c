"""Terms of scores that depend on the distances of queries and keys."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f32, si64
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.attention import heads_of
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("DistanceScores")
def distance_scores(
    node: LoweringNode,
    op: OpBuilder,
    mask: SSAValue,
    queries: SSAValue,
    keys: SSAValue,
    tokens: SSAValue,
    of_keys: SSAValue | None = None,
    of_queries: SSAValue | None = None,
    *,
    heads: int,
    span: int,
    scale: float,
    longest: int = 0,
) -> SSAValue:
    """transformers.DistanceScores(mask, queries, keys, tokens, of_keys, of_queries) {heads, span, scale, longest}
    -> mask + scale · (queries · of_keysᵀ + (keys · of_queriesᵀ)ᵀ), each at the distance of query and key

    The last two are projected embeddings of the distances -span, …, span - 1, [1, 2 * span, heads * size]; either may
    be absent. f32 [batch, heads, tokens, tokens]. He and others, "DeBERTa", 2021.
    """
    rows = _rows(op, tokens, span, longest)
    terms: list[SSAValue] = []
    if of_keys is not None:
        terms.append(_at(op, _products(node, op, queries, of_keys, heads), rows))
    if of_queries is not None:
        swapped = op.Transpose(rows, np.array([1, 0]))
        terms.append(op.Transpose(_at(op, _products(node, op, keys, of_queries, heads), swapped), np.array([0, 1, 3, 2])))
    if not terms:
        node.fail("it has neither embeddings for queries nor for keys")
    total = terms[0] if len(terms) == 1 else op.Add(*terms)
    return op.Add(mask, op.Multiply(total, op.constant(scale, f32)))


def _products(node: LoweringNode, op: OpBuilder, x: SSAValue, distances: SSAValue, heads: int) -> SSAValue:
    """The products of each token of x with each distance, [batch, heads, tokens, distances]."""
    return op.MatMul(heads_of(node, op, x, heads), heads_of(node, op, distances, heads), transpose_b=True)


def _at(op: OpBuilder, products: SSAValue, rows: SSAValue) -> SSAValue:
    """Of products [batch, heads, tokens, distances] those at the distances `rows` [tokens, tokens]."""
    shape = op.Concat(op.Gather(op.ShapeOf(products), [0, 1], 0), op.ShapeOf(rows), axis=0)
    return op.GatherElements(products, op.Broadcast(rows, shape), axis=-1)


def _rows(op: OpBuilder, tokens: SSAValue, span: int, longest: int) -> SSAValue:
    """The index of the embedding of the distance of query i and key j, [i, j]."""
    count = op.Gather(op.ShapeOf(tokens), op.constant(1), op.constant(0))
    indices = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    distances = op.Subtract(op.Unsqueeze(indices, [1]), op.Unsqueeze(indices, [0]))
    if not longest:
        return op.Add(op.Clamp(distances, min=-float(span), max=float(span - 1)), op.constant(span, si64))
    table = rows_of_distances(span, longest)
    far = len(table) // 2
    indices = op.Add(op.Clamp(distances, min=-float(far), max=float(far)), op.constant(far, si64))
    return op.Gather(op.constant(table, si64), indices, op.constant(0))


def rows_of_distances(span: int, longest: int) -> Array:
    """The index of the embedding of each distance from -longest to longest.

    Distances up to span / 2 have one each, those beyond share them logarithmically, until `longest` - 1 has the last.
    """
    distances, half = np.arange(-longest, longest + 1), span // 2
    size = np.maximum(np.abs(distances), half).astype(np.float32)
    growth = np.log(size / np.float32(half)) / np.log(np.float32((longest - 1) / half))
    far = np.ceil(growth * np.float32(half - 1)).astype(np.int64) + half
    buckets = np.where(np.abs(distances) <= half, distances, np.sign(distances) * far)
    return np.clip(buckets + span, 0, 2 * span - 1)
