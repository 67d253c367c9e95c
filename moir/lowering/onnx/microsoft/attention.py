"""Attention and rotary embeddings of the domain com.microsoft."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.attention.operations import (
    Scores,
    Window,
    attention,
    combined_masks,
    join_heads,
    rotated_heads,
    split_heads,
    window_mask,
)
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder

UNSUPPORTED = "rotary embeddings in the attention and shared buffers of past keys are not supported"

HIDDEN = -10000.0
"""The default of `mask_filter_value`, which is added to the score of a hidden key."""


def _key_mask(node: LoweringNode, op: OpBuilder, mask: SSAValue, key: SSAValue) -> SSAValue:
    """A mask of keys as booleans that broadcast to [batch, heads, queries, keys].

    The mask is [batch, keys] or [batch, queries, keys] with 0 for hidden keys, or [batch] with the number of visible
    keys.
    """
    rank = rank_of(mask)
    shape = shape_of(mask)
    if rank == 1:
        batch = shape_of(key)
        if shape is not None and batch is not None and -1 not in (shape[0], batch[0]) and shape[0] != batch[0]:
            node.fail(f"a mask of {shape[0]} entries for a batch of {batch[0]} is not supported", hint="use a mask of two dimensions")
        lengths = op.Unsqueeze(op.convert(mask, si64), [1, 2, 3])
        keys = op.Range(op.constant(0, si64), dimension_value(op, key, 2), op.constant(1, si64), output_type=si64)
        return op.Less(keys, lengths)
    if rank not in (2, 3):
        node.fail(f"a mask of rank {rank} is not supported")
    visible = mask if element_of(mask) == boolean else op.NotEqual(mask, 0)
    return op.Unsqueeze(visible, [1, 2] if rank == 2 else [1])


def _mask(
    node: LoweringNode, op: OpBuilder, query: SSAValue, key: SSAValue, mask: SSAValue | None, past: SSAValue | None
) -> SSAValue | None:
    """The mask to add to the scores: 0 for visible keys, `mask_filter_value` for hidden keys; None if all keys are
    visible.
    """
    visible = None if mask is None else _key_mask(node, op, mask, key)
    if node.flag("unidirectional"):
        offset = None if past is None else dimension_value(op, past, 2)
        causal = window_mask(op, query, key, Window(offset, causal=True))
        visible = causal if visible is None else combined_masks(op, causal, visible)
    if visible is None:
        return None
    return op.Select(visible, op.constant_like(0, query), op.constant_like(node.number("mask_filter_value", HIDDEN), query))


def head_count(node: LoweringNode) -> int:
    """The attribute `num_heads`. Raises ConversionError if it is not positive."""
    heads = node.integer("num_heads")
    if heads < 1:
        node.fail(f"num_heads is {heads}")
    return heads


def scores_of(node: LoweringNode, mask: SSAValue | None) -> Scores:
    """The parameters of a node's scores: the attribute `scale` (0 for the default) and a mask."""
    # A scale of 0 selects the default.
    scale = node.number("scale", 0.0)
    return Scores(scale or None, mask=mask)


@onnx.lowers("com.microsoft.Attention")
def packed_attention(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    weights: SSAValue,
    bias: SSAValue | None = None,
    mask: SSAValue | None = None,
    past: SSAValue | None = None,
    added: SSAValue | None = None,
    operand_6: SSAValue | None = None,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.Attention(x, weights, bias, mask, past, added) {num_heads}
    -> ScaledDotProductAttention(q, k, v, mask)

    q, k and v are the three parts of MatMul(x, weights) + bias.
    """
    if operand_6 is not None:
        node.fail(UNSUPPORTED)
    projected = op.MatMul(x, weights)
    if bias is not None:
        projected = op.Add(projected, node.operand(2))
    return projected_attention(node, op, projected, mask, past, added)


def projected_parts(node: LoweringNode, op: OpBuilder, projected: SSAValue) -> Sequence[SSAValue]:
    """The queries, keys and values that are concatenated along the last axis of `projected`."""
    sizes = node.integers("qkv_hidden_sizes", ())
    if sizes and len(sizes) != 3:
        node.fail(f"qkv_hidden_sizes has {len(sizes)} entries, not 3")
    last = op.constant(-1, si64)
    return op.VariadicSplit.parts(3, projected, last, list(sizes)) if sizes else op.Split.parts(3, projected, last, num_splits=3)


def projected_attention(
    node: LoweringNode, op: OpBuilder, projected: SSAValue, mask: SSAValue | None, past: SSAValue | None, bias: SSAValue | None
) -> Sequence[SSAValue | None]:
    """Build an attention whose queries, keys and values are concatenated along the last axis; returns its results.

    Args:
        node: the node, for its attributes.
        op: the builder.
        projected: [batch, sequence, queries + keys + values].
        mask: the visible keys, in the form of `_key_mask`; None if all are visible.
        past: the keys and values of earlier positions, [2, batch, heads, past, size]; None without a cache.
        bias: a bias that is added to the scores; None without one.
    """
    if node.flag("do_rotary"):
        node.fail(UNSUPPORTED)
    heads = head_count(node)
    query, key, value = (split_heads(op, part, heads) for part in projected_parts(node, op, projected))
    present = past_key = None
    if past is not None:
        past_key, past_value = (op.Squeeze(part, [0]) for part in op.Split.parts(2, past, op.constant(0, si64), num_splits=2))
        key, value = op.Concat(past_key, key, axis=2), op.Concat(past_value, value, axis=2)
    if node.is_used(1):
        present = op.Concat(op.Unsqueeze(key, [0]), op.Unsqueeze(value, [0]), axis=0)
    added = _with_bias(op, _mask(node, op, query, key, mask, past_key), bias)
    return [join_heads(op, attention(op, query, key, value, scores_of(node, added))), present][: node.result_count]


def _with_bias(op: OpBuilder, mask: SSAValue | None, bias: SSAValue | None) -> SSAValue | None:
    """The sum of a mask and a bias of the scores, either of which may be None; None if both are."""
    if mask is None or bias is None:
        return bias if mask is None else mask
    return op.Add(mask, bias)


@onnx.lowers("com.microsoft.MultiHeadAttention")
def multi_head_attention(
    node: LoweringNode,
    op: OpBuilder,
    _q: SSAValue,
    _k: SSAValue,
    _v: SSAValue,
    _bias: SSAValue,
    mask_: SSAValue | None = None,
    added: SSAValue | None = None,
    past_key: SSAValue | None = None,
    past_value: SSAValue | None = None,
) -> Sequence[SSAValue | None]:
    """onnx.com.microsoft.MultiHeadAttention(q, k, v, bias, mask, added, past_k, past_v)
    -> ScaledDotProductAttention(q, k, v, mask)

    q is [batch, queries, heads * size]; k and v are [batch, keys, heads * size] or [batch, heads, keys, size]. Without
    k, q is [batch, sequence, heads, 3, size] and contains queries, keys and values; without v, k is [batch, keys,
    heads, 2, size] and contains keys and values.
    """
    heads = head_count(node)
    inputs = _unpacked(node, op, heads)
    biases = _bias_parts(node, op, inputs)
    query, key, value = (
        split_heads(op, part if bias is None else op.Add(part, bias), heads) if rank_of(part) == 3 else part
        for part, bias in zip(inputs, biases, strict=True)
    )
    if past_key is not None:
        key, value = op.Concat(past_key, key, axis=2), op.Concat(node.operand(7) if past_value is None else past_value, value, axis=2)
    mask = _with_bias(op, _mask(node, op, query, key, mask_, past_key), added)
    if node.is_used(3):
        node.fail("the scores as a result are not supported")
    return [join_heads(op, attention(op, query, key, value, scores_of(node, mask))), key, value][: node.result_count]


def _unpacked(node: LoweringNode, op: OpBuilder, heads: int) -> list[SSAValue]:
    """Queries, keys and values of a MultiHeadAttention; packed ones are split and become [batch, sequence, heads *
    size].
    """
    present = [node.operand(index) for index in range(3) if node.optional(index) is not None]
    packed = 4 - len(present)
    if packed == 1:
        return present
    if rank_of(present[-1]) not in (5, None):
        node.fail(f"operand {len(present) - 1} has {rank_of(present[-1])} dimensions, where {packed} are packed in one of 5")
    parts = op.Split.parts(packed, present[-1], op.constant(3, si64), num_splits=packed)
    size = (shape_of(present[-1]) or (-1,))[-1]
    return [*present[:-1], *(op.Reshape(part, [0, 0, heads * size if size > 0 else -1], special_zero=True) for part in parts)]


def _bias_parts(node: LoweringNode, op: OpBuilder, biases: Sequence[SSAValue]) -> Sequence[SSAValue | None]:
    """The parts of the bias that belong to query, key and value, each as long as the last dimension of its operand.

    Three times None if there is no bias.
    """
    bias = node.optional(3)
    if bias is None:
        return (None, None, None)
    sizes = [(shape_of(each) or (-1,))[-1] for each in biases]
    if rank_of(biases[1]) == 4 or -1 in sizes:
        return op.Split.parts(3, bias, op.constant(0, si64), num_splits=3)
    array = node.constant(3)
    if array is None:
        return op.VariadicSplit.parts(3, bias, op.constant(0, si64), sizes)
    return [op.constant(part) for part in np.split(array, [sizes[0], sizes[0] + sizes[1]])]


@onnx.lowers("com.microsoft.RotaryEmbedding")
def rotary_embedding(node: LoweringNode, op: OpBuilder, *, is_packed_batching: bool = False, scale: float = 1.0) -> SSAValue:
    """onnx.com.microsoft.RotaryEmbedding(x, positions, cos, sin)
    -> Concat(x1 * cos - x2 * sin, x1 * sin + x2 * cos)

    Positions are [batch, sequence], or a single element, the position of the first element of the sequence.
    """
    if is_packed_batching or scale != 1:
        node.fail("packed batches and scaled positions are not supported")
    x, positions, zero = node.operand(0), node.operand(1), op.constant(0, si64)
    if node.known_rank(1) == 1:
        length = dimension_value(op, x, 2 if node.known_rank(0) == 4 else 1)
        indices = op.Range(zero, length, op.constant(1, si64), output_type=si64)
        positions = op.Unsqueeze(op.Add(indices, op.convert(positions, si64)), [0])
    cos, sin = (op.Gather(node.operand(index), positions, zero) for index in (2, 3))
    return rotated_heads(node, op, cos, sin)
