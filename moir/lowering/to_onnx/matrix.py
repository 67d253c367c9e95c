"""Products of matrices, and attention."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import boolean
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


def _turned(node: LoweringNode, op: OnnxBuilder, value: SSAValue, index: int) -> SSAValue:
    """The operand `value` of index `index` with the last two dimensions swapped; a 1-D tensor is unchanged."""
    rank = node.known_rank(index)
    if rank < 2:
        return value
    return op.transposed(value, [*range(rank - 2), rank - 1, rank - 2])


@opset.lowers("MatMul")
def matmul(
    node: LoweringNode, op: OnnxBuilder, a: SSAValue, b: SSAValue, *, transpose_a: bool = False, transpose_b: bool = False
) -> SSAValue:
    """opset1.MatMul(a, b) -> onnx.MatMul(a, b), with a Transpose of an operand that is to be transposed"""
    if transpose_a:
        a = _turned(node, op, a, 0)
    if transpose_b:
        b = _turned(node, op, b, 1)
    return op.MatMul(a, b)


@opset.lowers("Einsum")
def einsum(op: OnnxBuilder, *values: SSAValue, equation: str) -> SSAValue:
    """opset7.Einsum(…) {equation} -> onnx.Einsum(…) {equation}"""
    return op.Einsum(*values, equation=equation)


@opset.lowers("ScaledDotProductAttention")
def attention(
    node: LoweringNode,
    op: OnnxBuilder,
    query: SSAValue,
    key: SSAValue,
    value: SSAValue,
    mask: SSAValue | None = None,
    scale: SSAValue | None = None,
    _sink: SSAValue | None = None,
    *,
    causal: bool = False,
) -> SSAValue:
    """opset13.ScaledDotProductAttention(…) -> softmax(query · keyᵀ · scale + mask) · value

    Vaswani et al., "Attention Is All You Need", 2017.
    """
    if node.optional(5) is not None:
        node.fail("it has a sink, which is not written as ONNX yet")
    if scale is None:
        shape = shape_of(query)
        if shape is not None and shape[-1] >= 0:
            query = op.Mul(query, 1 / float(np.sqrt(shape[-1])))
        else:
            rank = node.known_rank(0)
            query = op.Div(query, op.Sqrt(op.Cast(op.sizes(query, rank - 1, rank), to=element_of(query))))
    else:
        query = op.Mul(query, scale)
    scores = op.MatMul(query, _turned(node, op, key, 1))
    if causal:
        length, count = op.sizes(query, node.known_rank(0) - 2, node.known_rank(0) - 1), node.known_rank(1)
        keys = op.sizes(key, count - 2, count - 1)
        rows, columns = (op.Range(0, op.squeezed(each, 0), 1) for each in (length, keys))
        visible = op.LessOrEqual(op.unsqueezed(columns, 0), op.unsqueezed(rows, 1))
        scores = op.Where(visible, scores, -np.inf)
    elif mask is not None:
        scores = op.Where(mask, scores, -np.inf) if element_of(mask) == boolean else op.Add(scores, mask)
    return op.MatMul(op.Softmax(scores, axis=-1), value)
