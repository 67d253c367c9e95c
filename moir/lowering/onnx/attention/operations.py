"""Attention and rotary position embeddings.

    %y = onnx.Attention(%q, %k, %v) {is_causal = 1}
->  %y = opset13.ScaledDotProductAttention(%q, %k, %v) {causal = true}
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64, to_numpy
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.attention_heads import join_heads, split_heads
from moir.expansions.shape_values import dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.element_types import element_type
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


def repeated_heads(op: OpBuilder, x: SSAValue, heads: int, repeats: int) -> SSAValue:
    """x [batch, heads, sequence, size] with each of its heads repeated `repeats` times in a row."""
    if repeats == 1:
        return x
    return op.Gather(x, op.constant(np.repeat(np.arange(heads), repeats).astype(np.int64)), op.constant(1, si64))


@dataclass
class Scores:
    """How the weights of an attention are computed from the products of queries and keys.

    Args:
        scale: factor of the products; None for 1 / sqrt(size of a head).
        cap: products are replaced by cap · tanh(products / cap); 0 for no change.
        mask: numbers that are added to the products, or booleans that are true for visible keys; broadcast to [batch,
            heads, queries, keys].
        causal: whether query i sees only keys 0 … i.
        visible: booleans of the shape of the mask; a query without a true entry gets zeros.
    """

    scale: float | None = None
    cap: float = 0.0
    mask: SSAValue | None = None
    causal: bool = False
    visible: SSAValue | None = None


def attention(op: OpBuilder, query: SSAValue, key: SSAValue, value: SSAValue, scores: Scores) -> SSAValue:
    """softmax(query · keyᵀ · scale + mask) · value, all [batch, heads, sequence, size]."""
    if scores.cap:
        limited = masked(op, capped(op, products(op, query, key, scores.scale), scores.cap), scores.mask)
        return op.MatMul(guarded(op, op.Softmax(limited, axis=-1), scores.visible), value)
    mask = scores.mask
    scale = None if scores.scale is None else op.constant_like(scores.scale, query)
    if scale is not None:
        # The operand for the scale follows that of the mask; a mask of 0 changes nothing.
        mask = op.constant_like(0, query) if mask is None else mask
        result = op.ScaledDotProductAttention(query, key, value, mask, scale, causal=scores.causal)
    else:
        operands = [query, key, value] if mask is None else [query, key, value, mask]
        result = op.ScaledDotProductAttention(*operands, causal=scores.causal)
    return guarded(op, result, scores.visible)


def guarded(op: OpBuilder, result: SSAValue, visible: SSAValue | None) -> SSAValue:
    """A result with zeros for queries without a true entry in `visible`, for which softmax is undefined; unchanged if
    it is None.
    """
    if visible is None:
        return result
    return op.Select(op.ReduceLogicalOr(visible, op.constant([-1], si64), keep_dims=True), result, 0)


def products(op: OpBuilder, query: SSAValue, key: SSAValue, scale: float | None) -> SSAValue:
    """The products query · keyᵀ · scale; a scale of None is 1 / sqrt(size of a head)."""
    raw = op.MatMul(query, key, transpose_b=True)
    if scale is not None:
        return op.Multiply(raw, scale)
    shape = shape_of(query)
    if shape is not None and shape[-1] > 0:
        return op.Multiply(raw, shape[-1] ** -0.5)
    return op.Divide(raw, op.Sqrt(op.convert(dimension_value(op, query, -1), element_of(query))))


def capped(op: OpBuilder, scores: SSAValue, cap: float) -> SSAValue:
    """The scores cap · tanh(scores / cap); unchanged for a cap of 0."""
    return op.Multiply(op.Tanh(op.Divide(scores, cap)), cap) if cap else scores


def masked(op: OpBuilder, scores: SSAValue, mask: SSAValue | None) -> SSAValue:
    """Scores plus a mask; a boolean mask replaces the scores where it is false by minus infinity."""
    if mask is None:
        return scores
    if element_of(mask) == boolean:
        return op.Select(mask, scores, lowest(op, scores))
    return op.Add(scores, mask)


def lowest(op: OpBuilder, like: SSAValue) -> SSAValue:
    """Minus infinity in the element type of a value."""
    return op.constant(np.asarray(-np.inf).astype(to_numpy(element_of(like))), element_of(like))


@dataclass
class Window:
    """The keys that a query sees, given by their indices relative to the query's.

    Args:
        offset: the index of the key at the first query: a scalar, or [batch, 1, 1, 1]; None for 0.
        causal: whether keys after the query are hidden.
        left: number of visible keys before the query, -1 for all.
        right: number of visible keys after the query, -1 for all.
    """

    offset: SSAValue | None = None
    causal: bool = False
    left: int = -1
    right: int = -1

    @property
    def is_restricted(self) -> bool:
        """Whether the window hides any key from any query."""
        return self.causal or self.left >= 0 or self.right >= 0


def window_mask(op: OpBuilder, query: SSAValue, key: SSAValue, window: Window) -> SSAValue:
    """A boolean mask that is true for the keys in each query's window: [queries, keys], after the dimensions of the
    window's offset.
    """
    zero, one = op.constant(0, si64), op.constant(1, si64)
    positions = op.Unsqueeze(op.Range(zero, dimension_value(op, query, 2), one, output_type=si64), [1])
    if window.offset is not None:
        positions = op.Add(positions, window.offset)
    keys = op.Range(zero, dimension_value(op, key, 2), one, output_type=si64)
    parts: list[SSAValue] = []
    right = 0 if window.causal else window.right
    if right >= 0:
        parts.append(op.LessEqual(keys, op.Add(positions, right) if right else positions))
    if window.left >= 0:
        parts.append(op.GreaterEqual(keys, op.Subtract(positions, window.left)))
    return parts[0] if len(parts) == 1 else op.LogicalAnd(*parts)


def combined_masks(op: OpBuilder, visible: SSAValue, mask: SSAValue | None) -> SSAValue:
    """The boolean mask `visible` combined with another mask.

    `mask` is boolean, or added to the scores, or None; the result is of the same kind, boolean for None.
    """
    if mask is None:
        return visible
    if element_of(mask) == boolean:
        return op.LogicalAnd(visible, mask)
    return op.Select(visible, mask, lowest(op, mask))


@onnx.lowers("Attention")
def lower_attention(
    node: LoweringNode,
    op: OpBuilder,
    q: SSAValue,
    k: SSAValue,
    v: SSAValue,
    _attn_mask: SSAValue,
    past_key: SSAValue | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
) -> Sequence[SSAValue | None]:
    """onnx.Attention(q, k, v, mask, past_k, past_v, lengths) -> ScaledDotProductAttention(q, k, v, mask)

    Past keys and values are concatenated before k and v. If the scores are bounded or are a result, the attention is
    computed by elementary operations.
    """
    query, key, value = q, k, v
    flat = node.known_rank(0) == 3
    if flat:
        heads, own = node.integer("q_num_heads"), node.integer("kv_num_heads")
        query, key, value = split_heads(op, query, heads), split_heads(op, key, own), split_heads(op, value, own)
    if past_key is not None:
        key, value = op.Concat(past_key, key, axis=2), op.Concat(node.operand(5), value, axis=2)
    present = (key, value)
    # Values and masks may have other element types than queries, keys and the result.
    key, value = (op.convert(each, element_of(query)) for each in (key, value))
    key, value = (shared_heads(node, op, each, query) for each in (key, value))
    scores = Scores(scale, softcap)
    _set_mask(node, op, scores, query, key, past_key)
    weights = None
    if node.is_used(3) or (node.has("softmax_precision") and element_type(node, "softmax_precision") != element_of(query)):
        result, weights = _stepwise(node, op, (query, key, value), scores)
    else:
        if scores.cap and scores.causal:
            scores.mask = window_mask(op, query, key, Window(causal=True))
        result = attention(op, query, key, value, scores)
    return [join_heads(op, result) if flat else result, *present, weights][: node.result_count]


def shared_heads(node: LoweringNode, op: OpBuilder, x: SSAValue, query: SSAValue) -> SSAValue:
    """Keys or values [batch, heads, sequence, size] with each head repeated for the query's heads that share it.

    Raises ConversionError if the number of the query's heads is not a multiple of the number of heads of x.
    """
    heads, own = node.known.dimension(query, 1), node.known.dimension(x, 1)
    if heads == own:
        return x
    if isinstance(heads, int) and isinstance(own, int):
        if own < 1 or heads % own:
            node.fail(f"{heads} heads of the query cannot share {own} heads of the key")
        return repeated_heads(op, x, own, heads // own)
    count = dimension_value(op, query, 1)
    head_indices = op.Range(op.constant(0, si64), count, op.constant(1, si64), output_type=si64)
    return op.Gather(x, op.Divide(head_indices, op.Divide(count, dimension_value(op, x, 1))), 1)


def _set_mask(node: LoweringNode, op: OpBuilder, scores: Scores, query: SSAValue, key: SSAValue, past: SSAValue | None) -> None:
    """Set the mask of an Attention's `scores`, from the node's operands, attributes and sequence lengths.

    If the attribute `is_causal` is the only restriction, `scores.causal` is set instead, for
    opset13.ScaledDotProductAttention.
    """
    mask, lengths = node.optional(3), node.optional(6)
    if mask is not None:
        mask = mask if element_of(mask) == boolean else op.convert(mask, element_of(query))
        mask = _padded_mask(op, mask, key, may_be_shorter=lengths is not None)
    window = Window(None, node.flag("is_causal"), node.attribute("left_window_size", -1), node.attribute("right_window_size", -1))
    if mask is None and lengths is None and past is None and window == Window(causal=True):
        scores.causal = True
        return
    visible: SSAValue | None = None
    if lengths is not None:
        lengths = op.Reshape(op.convert(lengths, si64), [-1, 1, 1, 1], special_zero=False)
        keys = op.Range(op.constant(0, si64), dimension_value(op, key, 2), op.constant(1, si64), output_type=si64)
        visible = op.Less(keys, lengths)
        window.offset = op.Subtract(lengths, dimension_value(op, query, 2))
    elif past is not None:
        window.offset = dimension_value(op, past, 2)
    if window.is_restricted:
        inside = window_mask(op, query, key, window)
        visible = inside if visible is None else op.LogicalAnd(inside, visible)
    scores.mask = mask if visible is None else combined_masks(op, visible, mask)
    # Without mask, lengths and a window to the left every query sees at least the first key.
    if scores.mask is not None and element_of(scores.mask) == boolean:
        scores.visible = scores.mask if mask is not None or lengths is not None or window.left >= 0 else None
    else:
        scores.visible = visible
    known = None if scores.mask is None or scores.mask is not scores.visible else op.known.constant(scores.mask)
    if known is not None and known.all():
        # No restriction remains: every query sees every key.
        scores.mask = scores.visible = None


def _padded_mask(op: OpBuilder, mask: SSAValue, key: SSAValue, *, may_be_shorter: bool) -> SSAValue:
    """A mask extended to the number of keys, if it has fewer; no query sees the added keys.

    If sizes are dynamic, the extension is computed only if the mask `may_be_shorter`, as with lengths of keys.
    """
    shape, keys = shape_of(mask), shape_of(key)
    if shape and may_be_shorter and (shape[-1] < 0 or keys is None or keys[2] < 0):
        own, count = dimension_value(op, mask, -1, (1,)), dimension_value(op, key, 2, (1,))
        missing = op.Select(op.Equal(own, 1), 0, op.Maximum(op.Subtract(count, own), 0))
        hidden = op.constant(False, boolean) if element_of(mask) == boolean else lowest(op, mask)
        lead = [0] * (len(shape) - 1)
        return op.Pad(mask, [*lead, 0], op.Concat(lead, missing, axis=0) if lead else missing, hidden, pad_mode="constant")
    if not shape or keys is None or not 0 <= shape[-1] < keys[2] or shape[-1] == 1:
        return mask
    hidden = op.constant(False, boolean) if element_of(mask) == boolean else lowest(op, mask)
    begin, end = [0] * len(shape), [*[0] * (len(shape) - 1), keys[2] - shape[-1]]
    return op.Pad(mask, begin, end, hidden, pad_mode="constant")


def _stepwise(
    node: LoweringNode, op: OpBuilder, operands: tuple[SSAValue, SSAValue, SSAValue], scores: Scores
) -> tuple[SSAValue, SSAValue]:
    """The result of an attention built from elementary operations, and the scores that `qk_matmul_output_mode` selects.

    `operands` are the query, the key and the value.
    """
    query, key, value = operands
    element = element_of(query)
    precision = element_type(node, "softmax_precision", element)
    steps = [products(op, query, key, scores.scale)]
    steps.append(capped(op, steps[-1], scores.cap))
    mask = window_mask(op, query, key, Window(causal=True)) if scores.causal else scores.mask
    steps.append(masked(op, steps[-1], mask))
    weights = op.convert(op.Softmax(op.convert(steps[-1], precision), axis=-1), element)
    steps.append(guarded(op, weights, scores.visible))
    mode = node.attribute("qk_matmul_output_mode", 0)
    if not 0 <= mode < len(steps):
        node.fail(f"qk_matmul_output_mode is {mode}")
    return op.MatMul(steps[-1], value), steps[mode]


@onnx.lowers("RotaryEmbedding")
def rotary_embedding(
    node: LoweringNode, op: OpBuilder, _x: SSAValue, cos_cache: SSAValue, sin_cache: SSAValue, position_ids: SSAValue | None = None
) -> SSAValue:
    """onnx.RotaryEmbedding(x, cos, sin, position_ids)
    -> Concat(x1 * cos - x2 * sin, x1 * sin + x2 * cos), x1 and x2 the halves of x
    """
    cos, sin = cos_cache, sin_cache
    if position_ids is not None:
        cos, sin = (op.Gather(each, position_ids, op.constant(0, si64)) for each in (cos, sin))
    return rotated_heads(node, op, cos, sin)


def rotated_heads(node: LoweringNode, op: OpBuilder, cos: SSAValue, sin: SSAValue) -> SSAValue:
    """Operand 0 of a node after rotation; cosines and sines are [batch, sequence, size / 2].

    The operand is [batch, heads, sequence, size], or [batch, sequence, heads * size]; heads of the latter are split off
    before the rotation and joined after it.
    """
    size = node.attribute("rotary_embedding_dim", 0)
    heads = node.attribute("num_heads", 0)
    x = node.operand(0)
    if node.rank(0) is None and not heads:
        # Without a number of heads, the operand has a dimension for them.
        x = op.Reshape(x, [0, 0, 0, 0], special_zero=True)
    flat = (rank_of(x) or node.known_rank(0)) == 3
    if flat:
        if not heads:
            node.fail("attribute num_heads is missing")
        x = op.Reshape(x, [0, 0, heads, -1], special_zero=True)
    cos, sin = (op.Unsqueeze(each, [2 if flat else 1]) for each in (cos, sin))
    rest: list[SSAValue] = []
    if size:
        x, *rest = op.VariadicSplit.parts(2, x, op.constant(-1, si64), op.constant([size, -1], si64))
    result = rotated(op, x, cos, sin, node.flag("interleaved"))
    if rest:
        result = op.Concat(result, *rest, axis=-1)
    return op.Reshape(result, [0, 0, -1], special_zero=True) if flat else result


def rotated(op: OpBuilder, x: SSAValue, cos: SSAValue, sin: SSAValue, interleaved: bool) -> SSAValue:
    """The pairs of elements of x, rotated by angles with cosines `cos` and sines `sin`.

    A pair is elements i and i + half of the last dimension, or neighbours if `interleaved`.
    """
    if interleaved:
        x = op.Reshape(x, [*(0,) * ((rank_of(x) or 4) - 1), -1, 2], special_zero=True)
        cos, sin = (op.Unsqueeze(each, [-1]) for each in (cos, sin))
    first, second = op.Split.parts(2, x, op.constant(-1, si64), num_splits=2)
    real = op.Subtract(op.Multiply(first, cos), op.Multiply(second, sin))
    imaginary = op.Add(op.Multiply(first, sin), op.Multiply(second, cos))
    joined = op.Concat(real, imaginary, axis=-1)
    return op.Reshape(joined, [*(0,) * ((rank_of(x) or 5) - 2), -1], special_zero=True) if interleaved else joined
