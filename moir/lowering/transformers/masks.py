"""The masks of attentions.

GenAI's paged attention does not compute masks: it recognizes the operations that make one. A window is only seen in
exactly these operations (OpenVINO GenAI, SDPAToPagedAttention), so none may be simplified:

    BitwiseAnd(BitwiseAnd(True, BitwiseAnd(BitwiseAnd(True, keys > queries - window), keys <= queries)), padding)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32, si64
from moir.lowering.transformers.table import transformers
from moir.rewriting.builder import OpBuilder

HIDDEN = -65504.0
"""The score that is added for a key that a query does not see: finite, as a query that sees no key gives no NaN."""


def key_indices(op: OpBuilder, attention_mask: SSAValue) -> SSAValue:
    """The indices of all keys, cached ones first: [1, 1, 1, keys]."""
    return op.Unsqueeze(
        op.Range(op.constant(0), op.Gather(op.ShapeOf(attention_mask), op.constant(1), op.constant(0)), op.constant(1), output_type=si64),
        [0, 1, 2],
    )


def query_indices(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue) -> SSAValue:
    """The indices of the queries among the keys: [1, 1, queries, 1]."""
    count = op.Gather(op.ShapeOf(tokens), op.constant(1), op.constant(0))
    past = op.Subtract(op.Gather(op.ShapeOf(attention_mask), op.constant(1), op.constant(0)), count)
    return op.Unsqueeze(op.Add(op.Range(op.constant(0), count, op.constant(1), output_type=si64), past), [0, 1, 3])


def visible_keys(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, window: int) -> SSAValue:
    """Which keys each query sees: boolean [batch, 1, queries, keys]."""
    keys, queries = key_indices(op, attention_mask), query_indices(op, attention_mask, tokens)
    true = np.array(True)
    causal = op.LessEqual(keys, queries)
    if window:
        near = op.Greater(keys, op.Add(queries, op.constant(-window)))
        causal = op.BitwiseAnd(op.BitwiseAnd(op.constant(true), near), causal)
    both = op.BitwiseAnd(op.constant(true), causal)
    padding = op.Unsqueeze(op.Convert(attention_mask, destination_type=boolean), [1, 2])
    shape = op.Concat(
        op.Gather(op.ShapeOf(tokens), [0], 0),
        op.constant([1]),
        op.Gather(op.ShapeOf(tokens), [1], 0),
        op.Gather(op.ShapeOf(attention_mask), [1], 0),
        axis=0,
    )
    return op.Broadcast(op.BitwiseAnd(both, padding), shape)


@transformers.lowers("CausalMask")
def causal_mask(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, *, window: int = 0) -> SSAValue:
    """transformers.CausalMask(attention_mask, tokens) {window} -> Select(visible keys, 0, -65504)

    Query i sees key j if j <= i, the key is no padding, and i - j < window, if there is one; i and j count the keys of
    the cache.
    """
    visible = visible_keys(op, attention_mask, tokens, window)
    return op.Select(visible, op.constant(0.0, f32), op.constant(HIDDEN, f32))


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
