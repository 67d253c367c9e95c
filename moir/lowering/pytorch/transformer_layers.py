"""Whole layers of transformers, which torch computes at once for inference.

    %y = aten._transformer_encoder_layer_fwd.default(%x, …)
->  attention and a feed-forward network, each with a residual sum and a normalization

Source: transformer.cpp and attention.cpp in aten/src/ATen/native/transformers of PyTorch 2.13.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of
from moir.expansions.attention_heads import join_heads, split_heads
from moir.expansions.shape_values import dimension
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MASK_AXES = {0: (0, 1), 1: (1, 2), 2: ()}
"""For each kind of mask, the axes that it lacks: it is [length, length], [batch, length], or has the shape of the
scores.
"""


def _dense(op: OpBuilder, x: SSAValue, weight: SSAValue, bias: SSAValue) -> SSAValue:
    return op.Add(op.MatMul(x, weight, transpose_b=True), bias)


def _visible(node: LoweringNode, op: OpBuilder, mask: SSAValue, mask_type: int | None) -> SSAValue:
    """A mask that is true for visible keys and broadcasts to the scores, from the node's mask, which is nonzero for
    hidden keys.
    """
    if mask_type not in MASK_AXES:
        node.fail(f"the kind {mask_type} of its mask is not known")
    visible = op.LogicalNot(mask) if element_of(mask) == boolean else op.Equal(mask, 0)
    axes = list(MASK_AXES[mask_type])
    return op.Unsqueeze(visible, axes) if axes else visible


def _attention(
    node: LoweringNode,
    op: OpBuilder,
    inputs: Sequence[SSAValue],
    weights: tuple[SSAValue, SSAValue, SSAValue, SSAValue],
    heads: int,
    mask: SSAValue | None,
) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The projected result of an attention, with its queries and keys by heads.

    Args:
        node: the node.
        op: the builder.
        inputs: the tensors that are projected to queries, keys and values.
        weights: weight and bias of the three projections, concatenated; weight and bias of the result's projection.
        heads: the number of heads.
        mask: true for visible keys.
    """
    weight, bias, result_weight, result_bias = weights
    if not isinstance(dimension(op, weight, 0), int):
        node.fail("the size of its projections is dynamic")
    parts = zip(inputs, op.Split.results(weight, 0, num_splits=3), op.Split.results(bias, 0, num_splits=3), strict=True)
    query, key, value = (split_heads(op, _dense(op, *part), heads) for part in parts)
    operands = [query, key, value] if mask is None else [query, key, value, mask]
    attended = op.ScaledDotProductAttention(*operands, causal=False)
    if mask is not None:
        # A query that sees no key gets zeros: softmax is undefined for it.
        attended = op.Select(op.ReduceLogicalOr(mask, [-1], keep_dims=True), attended, op.constant_like(0, attended))
    return _dense(op, join_heads(op, attended), result_weight, result_bias), query, key


def _attention_weights(op: OpBuilder, query: SSAValue, key: SSAValue, mask: SSAValue | None, *, is_average: bool) -> SSAValue:
    """The weights of an attention, by heads or averaged over them."""
    size = op.convert(op.Gather(op.ShapeOf(query), op.constant(-1), 0), element_of(query))
    scores = op.Divide(op.MatMul(query, key, transpose_b=True), op.Sqrt(size))
    if mask is not None:
        scores = op.Select(mask, scores, op.constant_like(float("-inf"), scores))
    weights = op.Softmax(scores, axis=-1)
    if mask is not None:
        weights = op.Select(op.ReduceLogicalOr(mask, [-1], keep_dims=True), weights, op.constant_like(0, weights))
    return op.ReduceMean(weights, [1], keep_dims=False) if is_average else weights


@aten.lowers("_native_multi_head_attention.default")
def native_multi_head_attention(
    node: LoweringNode,
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    mask: SSAValue | None = None,
    *,
    num_head: int,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> Replacement:
    """aten._native_multi_head_attention.default(q, k, v, …) -> opset13.ScaledDotProductAttention between projections"""
    visible = None if mask is None else _visible(node, op, mask, mask_type)
    weights = (qkv_weight, qkv_bias, proj_weight, proj_bias)
    attended, queries, keys = _attention(node, op, (query, key, value), weights, num_head, visible)
    return [attended, _attention_weights(op, queries, keys, visible, is_average=average_attn_weights) if node.is_used(1) else None]


@aten.lowers("_transformer_encoder_layer_fwd.default")
def transformer_encoder_layer(
    node: LoweringNode,
    op: OpBuilder,
    src: SSAValue,
    qkv_weight: SSAValue,
    qkv_bias: SSAValue,
    proj_weight: SSAValue,
    proj_bias: SSAValue,
    norm_weight_1: SSAValue,
    norm_bias_1: SSAValue,
    norm_weight_2: SSAValue,
    norm_bias_2: SSAValue,
    ffn_weight_1: SSAValue,
    ffn_bias_1: SSAValue,
    ffn_weight_2: SSAValue,
    ffn_bias_2: SSAValue,
    mask: SSAValue | None = None,
    *,
    num_heads: int,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    mask_type: int | None = None,
) -> SSAValue:
    """aten._transformer_encoder_layer_fwd.default(x, …) -> x + attention, + feed-forward network, normalized before or
    after each
    """

    def normalized(x: SSAValue, weight: SSAValue, bias: SSAValue) -> SSAValue:
        return op.Add(op.Multiply(op.MVN(x, [-1], eps=eps, normalize_variance=True, eps_mode="INSIDE_SQRT"), weight), bias)

    def attention(x: SSAValue) -> SSAValue:
        visible = None if mask is None else _visible(node, op, mask, mask_type)
        return _attention(node, op, (x, x, x), (qkv_weight, qkv_bias, proj_weight, proj_bias), num_heads, visible)[0]

    def network(x: SSAValue) -> SSAValue:
        hidden = _dense(op, x, ffn_weight_1, ffn_bias_1)
        return _dense(op, op.Gelu(hidden, approximation_mode="ERF") if use_gelu else op.Relu(hidden), ffn_weight_2, ffn_bias_2)

    norms = ((norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2))
    x = src
    for layer, norm in zip((attention, network), norms, strict=True):
        x = op.Add(x, layer(normalized(x, *norm))) if norm_first else normalized(op.Add(x, layer(x)), *norm)
    return x
