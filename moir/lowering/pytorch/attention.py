"""Attention: softmax(query · keyᵀ · scale + mask) · value."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension, dimension_list
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

    A boolean mask is true for visible keys; with `enable_gqa` several heads of queries share one of keys.
    """
    if dropout_p:
        node.fail("it is in training mode", hint="export the model after model.eval()")
    if any(node.is_used(index) for index in range(1, node.result_count)):
        node.fail("its logarithms of sums for training are used", hint="export the model for inference")
    if enable_gqa:
        key, value = (_shared(node, op, each, query) for each in (key, value))
    element = inferred_element(node)
    mask = attn_mask
    if mask is not None and element_of(mask) != boolean:
        mask = op.convert(mask, element)
    operands: list[SSAValue | None] = [query, key, value]
    if mask is not None or scale is not None:
        # The operand for the scale follows that of the mask; a mask of 0 changes nothing.
        operands.append(op.constant_like(0, query) if mask is None else mask)
    if scale is not None:
        operands.append(op.constant_like(scale, query))
    found = op.ScaledDotProductAttention(*operands, causal=is_causal)
    if mask is not None and element_of(mask) == boolean and op.known.constant(mask) is None:
        # A query that sees no key gets zeros: softmax is undefined for it.
        visible = op.ReduceLogicalOr(mask, [-1], keep_dims=True)
        found = op.Select(visible, found, op.constant_like(0, found))
    return [found, *[None] * (node.result_count - 1)]


def _shared(node: LoweringNode, op: OpBuilder, x: SSAValue, query: SSAValue) -> SSAValue:
    """Heads [N, H, T, E] of keys or values repeated for the heads of queries that share each."""
    heads, wanted = dimension(op, x, -3), dimension(op, query, -3)
    if not isinstance(heads, int) or not isinstance(wanted, int) or wanted % heads:
        node.fail("the numbers of its heads are unknown")
    if heads == wanted:
        return x
    rank = len(shape_of(x) or ())
    wide = op.Tile(op.Unsqueeze(x, [rank - 2]), np.array([*[1] * (rank - 2), wanted // heads, 1, 1], np.int64))
    parts = [dimension_list(op, x, axis) for axis in range(rank)]
    parts[rank - 3] = op.constant([wanted])
    return op.Reshape(wide, op.Concat(*parts, axis=0), special_zero=False)
