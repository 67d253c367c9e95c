"""Attention as matrix products."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean, si64
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.expansions.shape_values import dimension_value
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def attention(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """softmax(query · scale · keyᵀ + mask) · value, Vaswani et al., "Attention Is All You Need", 2017.

    %y = opset13.ScaledDotProductAttention(%query, %key, %value, %mask, %scale)
    ->  %0 = opset1.MatMul(opset1.Multiply(%query, %scale), %key) {transpose_b = true}
        %y = opset1.MatMul(opset8.Softmax(opset1.Add(%0, %mask)) {axis = -1}, %value)

    A boolean mask selects scores, and the others are minus infinity. A score of a sink is concatenated to the others
    for the softmax, and cut off behind it.
    """
    query, key, value = node.operands[:3]
    mask, scale, sinks = (node.optional_operand(index) for index in (3, 4, 5))
    scores = op.MatMul(op.Multiply(query, _default_scale(op, query) if scale is None else scale), key, transpose_b=True)
    if node.flag("causal"):
        mask = _causal_mask(op, query, key)
    if mask is not None:
        scores = op.Select(mask, scores, -math.inf) if element_of(mask) == boolean else op.Add(scores, mask)
    if sinks is None:
        return op.MatMul(op.Softmax(scores, axis=-1), value)
    sizes = op.Slice(op.ShapeOf(scores), [0], [-1], [1])
    column = op.Broadcast(sinks, op.Concat(sizes, [1], axis=0))
    weights = op.Softmax(op.Concat(scores, column, axis=-1), axis=-1)
    return op.MatMul(op.Slice(weights, [0], [-1], [1], [-1]), value)


def attention_of_scores(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """The attention with scores of zero and minus infinity in place of a boolean mask."""
    query, key, value, mask, *others = node.operands
    # Constants of one dimension: older plugins generate no code for several attentions that share a scalar.
    scores = op.Select(mask, op.constant_like([0.0], query), op.constant_like([-math.inf], query))
    return op.ScaledDotProductAttention(query, key, value, scores, *others, causal=False)


def _default_scale(op: OpBuilder, query: SSAValue) -> SSAValue | float:
    """One divided by the root of the last dimension of the query."""
    shape = shape_of(query)
    if shape is not None and shape[-1] > 0:
        return 1 / math.sqrt(shape[-1])
    return op.Power(op.ConvertLike(dimension_value(op, query, -1), query), -0.5)


def _causal_mask(op: OpBuilder, query: SSAValue, key: SSAValue) -> SSAValue:
    """Whether the index of a key is not greater than that of the query: [queries, keys]."""
    rows, columns = (op.Range(0, dimension_value(op, value, -2), 1, output_type=si64) for value in (query, key))
    return op.GreaterEqual(op.Unsqueeze(rows, [1]), op.Unsqueeze(columns, [0]))


EXPANSIONS: Mapping[str, Expansion] = {"opset13.ScaledDotProductAttention": attention}
