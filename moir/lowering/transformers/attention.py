"""Attention with a cache of keys and values, in the form that targets execute as one operation.

The cache of a layer is two variables [batch, key heads, ?, size]. Each is read, its rows reordered by `beam_idx`, the
new keys or values appended, and assigned; targets and GenAI's paged backend look for exactly this chain.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.transformers.alibi import with_alibi
from moir.lowering.transformers.arithmetic import soft_cap
from moir.lowering.transformers.states import state
from moir.lowering.transformers.table import transformers
from moir.lowering.transformers.weights import vector
from moir.rewriting.builder import OpBuilder
from moir.rewriting.variables import assign_variable

HEADS_FIRST = np.array([0, 2, 1, 3])
"""The permutation between [batch, tokens, heads, size] and [batch, heads, tokens, size]."""


@transformers.lowers("Attention")
def attention(
    node: LoweringNode,
    op: OpBuilder,
    queries: SSAValue,
    keys: SSAValue,
    values: SSAValue,
    mask: SSAValue,
    beams: SSAValue | None = None,
    cosines: SSAValue | None = None,
    sines: SSAValue | None = None,
    sinks: SSAValue | None = None,
    attention_mask: SSAValue | None = None,
    *,
    heads: int,
    key_heads: int = 0,
    layer: int,
    scale: float,
    cap: float = 0.0,
    rotation: str = "halves",
    alibi: str = "",
    chunk: int = 0,
    padded_heads: int = 0,
) -> SSAValue:
    """transformers.Attention(queries, keys, values, mask, beams, cosines, sines, sinks, attention_mask) {heads, …}
    -> ScaledDotProductAttention(rotated queries, cached keys, cached values, mask, scale)

    Queries, keys and values are [batch, tokens, heads * size]. Without `beams` nothing is cached. Scores with a cap,
    cap · tanh(score / cap), are computed by products, since the operation has none. So are those of a layer with
    chunks: backends that replace the operation read its mask as a causal one. With `padded_heads` there are so many
    heads in it, the further ones of each group zeros: paged backends need the same number in all layers.
    """
    key_heads = key_heads or heads
    query = heads_of(node, op, queries, heads, None if cosines is None else rotation, cosines, sines)
    key = heads_of(node, op, keys, key_heads, None if cosines is None else rotation, cosines, sines)
    value = heads_of(node, op, values, key_heads)
    if beams is not None:
        key = cached(op, key, beams, key_variable(layer))
        value = cached(op, value, beams, value_variable(layer))
    if alibi:
        if attention_mask is None:
            node.fail("operand 8, the mask of the tokens, is missing")
        mask, scale = with_alibi(node, op, mask, attention_mask, heads, scale, alibi)
    count = padded_heads or heads
    if count != heads:
        query = _resized_groups(op, query, key_heads, count, is_longer=True)
    result = attended(op, query, repeated(op, key, count), repeated(op, value, count), mask, scale, cap, sinks, is_single=not chunk)
    if count != heads:
        result = _resized_groups(op, result, key_heads, heads, is_longer=False)
    size = (shape_of(result) or (-1,))[-1]
    return op.Reshape(op.Transpose(result, HEADS_FIRST), [0, 0, heads * size], special_zero=True)


def _resized_groups(op: OpBuilder, x: SSAValue, groups: int, heads: int, is_longer: bool) -> SSAValue:
    """Queries or results [batch, heads, tokens, size] with another number of heads, `heads`, in `groups` groups of
    equal size.

    If `is_longer`, each group is padded with heads of zeros, otherwise only its first heads remain.
    """
    _, own, _, size = shape_of(x) or (-1,) * 4
    grouped = op.Reshape(x, [0, groups, own // groups, -1, size], special_zero=True)
    if is_longer:
        grouped = op.Pad(grouped, [0, 0, 0, 0, 0], [0, 0, (heads - own) // groups, 0, 0], op.constant(0.0, f32), pad_mode="constant")
    else:
        grouped = op.Slice(grouped, op.constant([0]), op.constant([heads // groups]), op.constant([1]), op.constant([2]))
    return op.Reshape(grouped, [0, heads, -1, size], special_zero=True)


@transformers.lowers("Rotate")
def rotate(
    node: LoweringNode, op: OpBuilder, x: SSAValue, cosines: SSAValue, sines: SSAValue, *, heads: int, rotation: str = "halves"
) -> SSAValue:
    """transformers.Rotate(x [batch, tokens, heads * size], cosines, sines) {heads, rotation} -> as within Attention"""
    parts = heads_of(node, op, x, heads, rotation, cosines, sines)
    return op.Reshape(op.Transpose(parts, HEADS_FIRST), [0, 0, (shape_of(x) or (-1,))[-1]], special_zero=True)


def key_variable(layer: int) -> str:
    """The name of the variable with the keys of a layer."""
    return f"past_key_values.{layer}.keypresent.{layer}.key"


def value_variable(layer: int) -> str:
    """The name of the variable with the values of a layer."""
    return f"past_key_values.{layer}.valuepresent.{layer}.value"


def attended(
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    mask: SSAValue,
    scale: float,
    cap: float = 0.0,
    sinks: SSAValue | None = None,
    is_single: bool = True,
) -> SSAValue:
    """The attention softmax(scale · query · keyᵀ + mask) · value of operands [batch, heads, tokens, size].

    It is a single ScaledDotProductAttention if `is_single` and `cap` is 0, otherwise two matrix products.
    """
    if cap or not is_single:
        scores = op.Multiply(op.MatMul(query, key, transpose_b=True), op.constant(scale, f32))
        weights = op.Softmax(op.Add(soft_cap(op, scores, cap) if cap else scores, mask), axis=-1)
        return op.MatMul(weights, value)
    operands = [query, key, value, mask, op.constant(scale, f32)]
    if sinks is not None:
        operands.append(vector(op, sinks, 0.0, (1, -1, 1, 1)))
    return op.ScaledDotProductAttention(*operands, causal=False)


def heads_of(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    heads: int,
    rotation: str | None = None,
    cosines: SSAValue | None = None,
    sines: SSAValue | None = None,
) -> SSAValue:
    """Split x [batch, tokens, heads * size] into heads [batch, heads, tokens, size], rotated if a rotation is given."""
    shape = shape_of(x)
    if shape is None or shape[-1] < 0 or shape[-1] % heads:
        node.fail(f"its operand of shape {shape} does not have {heads} heads")
    parts = op.Transpose(op.Reshape(x, [0, 0, heads, shape[-1] // heads], special_zero=True), HEADS_FIRST)
    if rotation is None or cosines is None or sines is None:
        return parts
    return rotated(node, op, parts, rotation, cosines, sines)


def rotated(node: LoweringNode, op: OpBuilder, x: SSAValue, rotation: str, cosines: SSAValue, sines: SSAValue) -> SSAValue:
    """The first dimensions of x [batch, heads, tokens, size] rotated by angles [batch, 1, tokens, rotated size].

    `halves` rotates the pairs (i, i + half), `interleaved` the pairs (2 i, 2 i + 1). For interleaved pairs the
    dimensions are reordered to halves first, and stay in that order: it does not change the product of queries and
    keys, and targets have an operation for halves.
    """
    size, width = (shape_of(cosines) or (-1,))[-1], (shape_of(x) or (-1,))[-1]
    if size < 2 or size > width:
        node.fail(f"{size} of {width} dimensions cannot be rotated")
    whole, rest = x, None
    if size < width:
        x = sliced(op, whole, 0, size)
        rest = sliced(op, whole, size, width)
    if rotation == "interleaved":
        x = halves_of_pairs(op, x, size)
    elif rotation != "halves":
        node.fail(f"a rotation of {rotation!r} is not known")
    turned = op.Concat(op.Multiply(sliced(op, x, size // 2, size), -1.0), sliced(op, x, 0, size // 2), axis=-1)
    result = op.Add(op.Multiply(x, cosines), op.Multiply(turned, sines))
    return result if rest is None else op.Concat(result, rest, axis=-1)


def halves_of_pairs(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    """x […, tokens, size] with the even indices of the last dimension before the odd ones."""
    pairs = op.Reshape(x, [0, 0, 0, size // 2, 2], special_zero=True)
    return op.Reshape(op.Transpose(pairs, np.array([0, 1, 2, 4, 3])), [0, 0, 0, size], special_zero=True)


def sliced(op: OpBuilder, x: SSAValue, start: int, stop: int) -> SSAValue:
    """The elements from `start` up to, but not including, `stop` of the last of four dimensions."""
    return op.Slice(x, op.constant([start]), op.constant([stop]), op.constant([1]), op.constant([3]))


def cached(op: OpBuilder, x: SSAValue, beams: SSAValue, variable: str) -> SSAValue:
    """The cache of a variable with its rows reordered by `beams` and x [batch, heads, tokens, size] appended; the
    result is assigned to the variable.
    """
    _, heads, _, size = shape_of(x) or (-1,) * 4
    joined = op.Concat(state(op, beams, variable, (heads, 0, size), f"?,{heads},?,{size}"), x, axis=-2)
    assign_variable(op, variable, joined)
    return joined


def repeated(op: OpBuilder, x: SSAValue, heads: int) -> SSAValue:
    """Keys or values [batch, key heads, tokens, size], each head repeated for the queries' heads that share it."""
    _, own, _, size = shape_of(x) or (-1,) * 4
    if own == heads:
        return x
    sizes = op.ShapeOf(x)
    wide = op.Concat(op.Gather(sizes, [0, 1], 0), op.constant([heads // own]), op.Gather(sizes, [2, 3], 0), axis=0)
    spread = op.Broadcast(op.Unsqueeze(x, [2]), wide, mode="bidirectional")
    return op.Reshape(spread, [0, heads, -1, size], special_zero=True)
