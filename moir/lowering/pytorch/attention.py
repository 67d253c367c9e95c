"""Attention: softmax(query · keyᵀ · scale + mask) · value."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.shape_values import dimension, dimension_list
from moir.expansions.sums_of_exponentials import log_of_sum_of_exponentials
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@aten.lowers(
    *("scaled_dot_product_attention.default", "_scaled_dot_product_flash_attention_for_cpu.default"),
    *("_scaled_dot_product_flash_attention.default", "_scaled_dot_product_attention_math.default"),
)
def scaled_dot_product_attention(
    node: LoweringNode,
    op: OpBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    attn_mask: SSAValue | None = None,
    *,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Replacement:
    """aten.scaled_dot_product_attention.default(q, k, v, mask) {is_causal, scale}
    -> opset13.ScaledDotProductAttention(q, k, v, mask, scale) {causal}

    A boolean mask is true for visible keys; with `enable_gqa` several heads of queries share one head of keys. Matrices
    are attended as a batch of one.
    """
    if dropout_p:
        node.fail("it is in training mode", hint="export the model after model.eval()")
    if any(node.is_used(index) for index in range(2, node.result_count)):
        node.fail("its results for training are used", hint="export the model for inference")
    if enable_gqa:
        key, value = (_shared(node, op, each, query) for each in (key, value))
    element = inferred_element(node)
    mask = attn_mask
    if mask is not None and element_of(mask) != boolean:
        mask = op.convert(mask, element)
    is_matrix = rank_of(query) == 2
    operands: list[SSAValue | None] = [op.Unsqueeze(each, [0]) if is_matrix else each for each in (query, key, value)]
    if mask is not None or scale is not None:
        # The operand for the scale follows that of the mask; a mask of 0 changes nothing.
        operands.append(op.constant_like(0, query) if mask is None else mask)
    if scale is not None:
        operands.append(op.constant_like(scale, query))
    attended = op.ScaledDotProductAttention(*operands, causal=is_causal)
    attended = op.Squeeze(attended, [0]) if is_matrix else attended
    if mask is not None and element_of(mask) == boolean and op.known.constant(mask) is None:
        # A query that sees no key gets zeros: softmax is undefined for it.
        visible = op.ReduceLogicalOr(mask, [-1], keep_dims=True)
        attended = op.Select(visible, attended, op.constant_like(0, attended))
    further: list[SSAValue | None] = [None] * (node.result_count - 1)
    if node.is_used(1):
        scores = _scores(op, query, key, mask, scale, is_causal)
        is_math = "math" in node.op.KIND
        further[0] = op.Softmax(scores, axis=-1) if is_math else log_of_sum_of_exponentials(op, scores, [-1], keep_dims=False)
    return [attended, *further]


def _scores(op: OpBuilder, query: SSAValue, key: SSAValue, mask: SSAValue | None, scale: float | None, is_causal: bool) -> SSAValue:
    """The scores of an attention before the softmax: query · keyᵀ · scale + mask, with -∞ for hidden keys.

    A scale of None is 1 / √(size of a head).
    """
    if scale is None:
        size = op.convert(op.Gather(op.ShapeOf(query), op.constant(-1), 0), element_of(query))
        scores = op.Divide(op.MatMul(query, key, transpose_b=True), op.Sqrt(size))
    else:
        scores = op.Multiply(op.MatMul(query, key, transpose_b=True), scale)
    hidden = op.constant_like(-np.inf, scores)
    if is_causal:
        rows, columns = (
            op.Range(op.constant(0), op.Gather(op.ShapeOf(scores), op.constant(axis), 0), op.constant(1), output_type=si64)
            for axis in (-2, -1)
        )
        scores = op.Select(op.LessEqual(columns, op.Unsqueeze(rows, [1])), scores, hidden)
    if mask is None:
        return scores
    return op.Select(mask, scores, hidden) if element_of(mask) == boolean else op.Add(scores, mask)


def _shared(node: LoweringNode, op: OpBuilder, x: SSAValue, query: SSAValue) -> SSAValue:
    """Keys or values [N, H, T, E], each head repeated for the heads of queries that share it."""
    heads, wanted = dimension(op, x, -3), dimension(op, query, -3)
    if not isinstance(heads, int) or not isinstance(wanted, int) or wanted % heads:
        node.fail("the numbers of its heads are dynamic")
    if heads == wanted:
        return x
    rank = len(shape_of(x) or ())
    wide = op.Tile(op.Unsqueeze(x, [rank - 2]), np.array([*[1] * (rank - 2), wanted // heads, 1, 1], np.int64))
    parts = [dimension_list(op, x, axis) for axis in range(rank)]
    parts[rank - 3] = op.constant([wanted])
    return op.Reshape(wide, op.Concat(*parts, axis=0), special_zero=False)
