"""Matrix products."""

from __future__ import annotations

from typing import Any

from moir.dialects.shapes import shape_of
from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder


@lowers("FullyConnected", "InnerProduct")
def fully_connected(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.FullyConnected(x, weights, bias) -> opset1.MatMul(x, weights) {transpose_b} + bias

    Weights are [out, in], or [in, out] with `transpose_weights`. Data whose last dimension is not `in` is flattened
    behind the batch.
    """
    data, weights = node.operand(0), node.operand(1)
    transposed = node.flag("transpose_weights") or node.flag("transpose-weights")
    shape = shape_of(weights)
    columns = -1 if shape is None or len(shape) != 2 else shape[0 if transposed else 1]
    given = shape_of(data)
    if given is not None and len(given) > 2 and columns >= 0 and given[-1] != columns:
        data = op.Reshape(data, [0, -1], special_zero=True)
    product = op.MatMul(data, weights, transpose_b=not transposed)
    bias = node.optional(2)
    return product if bias is None else op.Add(product, bias)


@lowers("Gemm")
def gemm(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Gemm(a, b, c) {alpha, beta, transpose_a, transpose_b} -> alpha * opset1.MatMul(a, b) + beta * c"""
    product = op.MatMul(node.operand(0), node.operand(1), transpose_a=node.flag("transpose_a"), transpose_b=node.flag("transpose_b"))
    alpha, beta, added = node.number("alpha", 1.0), node.number("beta", 1.0), node.optional(2)
    if alpha != 1:
        product = op.Multiply(product, alpha)
    if added is None or beta == 0:
        return product
    return op.Add(product, added if beta == 1 else op.Multiply(added, beta))
