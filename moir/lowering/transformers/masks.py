"""The masks of attentions."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import boolean, f32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.causal_masks import HIDDEN, key_indices, query_indices
from moir.expansions.causal_masks import causal_mask as built_causal_mask
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import restored
from moir.rewriting.builder import OpBuilder

FAR = 128
"""The distance from which on all keys have the same relative bias."""


@transformers.lowers("CausalMask")
def causal_mask(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, *, window: int = 0, chunk: int = 0) -> SSAValue:
    """transformers.CausalMask(attention_mask, tokens) {window, chunk} -> Select(visible keys, 0, -65504)

    Query i sees key j if j <= i, the key is no padding, and i - j < window, if there is one; i and j count the keys of
    the cache. With a chunk both are in the same chunk of so many tokens, counted from the first that is no padding.
    """
    mask = built_causal_mask(op, attention_mask, tokens, window=window)
    if not chunk:
        return mask
    padding = op.Equal(op.CumSum(attention_mask, op.constant(1)), op.constant(0, si64))
    first = op.ReduceSum(op.Convert(padding, destination_type=si64), [1], keep_dims=True)
    first = op.Unsqueeze(first, [2, 3])
    of_key, of_query = (
        op.Floor(op.Divide(op.Convert(op.Subtract(each, first), destination_type=f32), float(chunk)))
        for each in (key_indices(op, attention_mask), query_indices(op, attention_mask, tokens))
    )
    return op.Select(op.Equal(of_key, of_query), mask, op.constant(HIDDEN, f32))


@transformers.lowers("Mask")
def mask(op: OpBuilder, attention_mask: SSAValue, _tokens: SSAValue, *, window: int = 0) -> SSAValue:
    """transformers.Mask(attention_mask, tokens) {window} -> Select(visible keys, 0, lowest)

    A query sees all keys that are no padding and at most `window` tokens away, if that is not 0.
    """
    visible = op.Unsqueeze(op.Convert(attention_mask, destination_type=boolean), [1, 2])
    if window:
        keys = key_indices(op, attention_mask)
        distance = op.Abs(op.Subtract(keys, op.Transpose(keys, np.array([0, 1, 3, 2]))))
        visible = op.LogicalAnd(op.LessEqual(distance, op.constant(window)), visible)
    lowest = np.finfo(np.float32).min
    return op.Select(visible, op.constant(0.0, f32), op.constant(float(lowest), f32))


@transformers.lowers("PositionBias")
def position_bias(op: OpBuilder, mask: SSAValue, tokens: SSAValue, table: SSAValue) -> SSAValue:
    """transformers.PositionBias(mask, tokens, table [buckets, heads]) -> mask + Gather(table, buckets of j - i)

    The bias of query i and key j depends on the bucket of their distance (Raffel and others, "Exploring the Limits of
    Transfer Learning", 2020, as in MPNet): half of the buckets are for each direction, half of those for small
    distances, and all distances from 128 on share one. f32 [batch, heads, tokens, tokens].
    """
    count = op.Gather(op.ShapeOf(tokens), op.constant(1), op.constant(0))
    indices = op.Range(op.constant(0), count, op.constant(1), output_type=si64)
    distances = op.Subtract(op.Unsqueeze(indices, [0]), op.Unsqueeze(indices, [1]))
    rows = op.Add(op.Clamp(distances, min=-float(FAR), max=float(FAR)), op.constant(FAR, si64))
    buckets = op.constant(_buckets((shape_of(table) or (0,))[0]), si64)
    biases = op.Gather(op.Gather(restored(op, table), buckets, op.constant(0)), rows, op.constant(0))
    return op.Add(mask, op.Unsqueeze(op.Transpose(biases, np.array([2, 0, 1])), [0]))


def _buckets(count: int) -> Array:
    """The bucket of the relative position bias for each distance j - i from -128 to 128."""
    distances = np.arange(-FAR, FAR + 1)
    half, size = count // 2, np.abs(distances)
    exact = half // 2
    growth = np.log(np.maximum(size, 1).astype(np.float32) / np.float32(exact)) / np.float32(math.log(FAR / exact))
    far = np.minimum(exact + (growth * np.float32(half - exact)).astype(np.int64), half - 1)
    return np.where(size < exact, size, far) + np.where(distances > 0, half, 0)
