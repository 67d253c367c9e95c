"""The choice of the keys that an attention sees, by scores of a smaller attention."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.expansions.causal_masks import HIDDEN
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.attention import cached, heads_of
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder


@transformers.lowers("IndexedMask")
def indexed_mask(
    node: LoweringNode,
    op: OpBuilder,
    mask: SSAValue,
    queries: SSAValue,
    keys: SSAValue,
    weights: SSAValue,
    beams: SSAValue,
    cosines: SSAValue,
    sines: SSAValue,
    *,
    heads: int,
    count: int,
    scale: float,
    layer: int,
    rotation: str = "halves",
) -> SSAValue:
    """transformers.IndexedMask(mask, queries, keys, weights, beams, cosines, sines) {heads, count, …}
    -> mask + ScatterElementsUpdate(-65504, TopK(scores + mask), 0), [batch, 1, tokens, keys]

    The score of query i and key j is the sum over the heads of weights_i · scale · Relu(query_i · key_j); `count` keys
    with the largest scores, or all if there are fewer, are not hidden. The keys have one head, and are cached.
    DeepSeek-AI, "DeepSeek-V3.2", 2025.
    """
    query = heads_of(node, op, queries, heads, rotation, cosines, sines)
    key = heads_of(node, op, keys, 1, rotation, cosines, sines)
    key = cached(op, key, beams, f"past_key_values.{layer}.index_keypresent.{layer}.index_key")
    products = op.Relu(op.MatMul(query, key, transpose_b=True))
    factors = op.Unsqueeze(op.Transpose(op.Multiply(weights, op.constant(scale, f32)), np.array([0, 2, 1])), [3])
    scores = op.Add(op.ReduceSum(op.Multiply(products, factors), [1], keep_dims=True), mask)
    shape = op.ShapeOf(scores)
    most = op.Minimum(op.Gather(shape, op.constant(3), op.constant(0)), op.constant(count))
    chosen = op.TopK.parts(2, scores, most, axis=3, mode="max", sort="none", index_element_type=si64)[1]
    hidden = op.Broadcast(op.constant(HIDDEN, f32), shape)
    visible = op.Broadcast(op.constant(0.0, f32), op.ShapeOf(chosen))
    return op.Add(mask, op.ScatterElementsUpdate(hidden, chosen, visible, op.constant(3)))
