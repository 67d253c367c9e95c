"""Masks of attentions with a cache, in the form that paged attention recognizes.

Paged attention does not compute masks: it recognizes the operations that compute one. It recognizes a sliding window
only in exactly these operations (`SDPAToPagedAttention`), so none of them may be simplified:

    BitwiseAnd(BitwiseAnd(True, BitwiseAnd(BitwiseAnd(True, keys > queries - window), keys <= queries)), padding)
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, f32, si64
from moir.rewriting.builder import OpBuilder

HIDDEN = -65504.0
"""The score that is added for a hidden key. It is finite, so that a query that sees no key does not become NaN."""


def key_indices(op: OpBuilder, attention_mask: SSAValue) -> SSAValue:
    """The indices of all keys, those in the cache first: [1, 1, 1, keys]."""
    return op.Unsqueeze(
        op.Range(op.constant(0), op.Gather(op.ShapeOf(attention_mask), op.constant(1), op.constant(0)), op.constant(1), output_type=si64),
        [0, 1, 2],
    )


def query_indices(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue) -> SSAValue:
    """The indices of the queries in the sequence of keys: [1, 1, queries, 1]."""
    count = op.Gather(op.ShapeOf(tokens), op.constant(1), op.constant(0))
    past = op.Subtract(op.Gather(op.ShapeOf(attention_mask), op.constant(1), op.constant(0)), count)
    return op.Unsqueeze(op.Add(op.Range(op.constant(0), count, op.constant(1), output_type=si64), past), [0, 1, 3])


def visible_keys(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, window: int) -> SSAValue:
    """Which keys each query sees: boolean [batch, 1, queries, keys].

    A key is seen if it is no padding, not after the query and, for a `window` above 0, among its last `window` keys.
    """
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


def causal_mask(op: OpBuilder, attention_mask: SSAValue, tokens: SSAValue, *, window: int = 0) -> SSAValue:
    """The mask that is added to the scores: 0 for visible keys, -65504 for others, f32 [batch, 1, queries, keys].

    Args:
        op: the builder.
        attention_mask: which keys are no padding, i64 [batch, keys].
        tokens: the tokens of the queries, [batch, queries].
        window: how many keys a query sees at most, itself included; 0 for all.
    """
    visible = visible_keys(op, attention_mask, tokens, window)
    return op.Select(visible, op.constant(0.0, f32), op.constant(HIDDEN, f32))
