"""Matrix products."""

from __future__ import annotations

from typing import Any

from moir.dialects.shapes import shape_of
from moir.lowering.table import Replacement
from moir.model_optimizer.frameworks.lookup import view_of
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder


@lowers("FullyConnected", "InnerProduct")
def fully_connected(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.FullyConnected(x, weights, bias) {out-size} -> opset1.MatMul(x, weights) {transpose_b} + bias

    With `transpose_weights` the weights are [out-size, in], else [in, out-size]; weights of another rank, such as the
    list of a Caffe layer, are reshaped to this shape. Data is flattened after the batch if its last dimension is not
    `in`, or if the framework always does so (`flattens_products`).
    """
    data, weights = node.operand(0), node.operand(1)
    rows, shape = node.integer("out-size", 0), shape_of(weights)
    transposed = node.flag("transpose_weights") or node.flag("transpose-weights")
    if shape is not None and len(shape) == 2 and not transposed:
        # Weights are [out, in] by their shape, or their order is unknown.
        transposed = rows in (0, shape[0]) and rows != shape[1]
    if shape is not None and len(shape) != 2:
        if rows < 1:
            node.fail(f"its weights have {len(shape)} dimensions, and no attribute out-size says the number of results")
        weights = op.Reshape(weights, [rows, -1] if transposed else [-1, rows], special_zero=False)
        shape = shape_of(weights)
    columns = -1 if shape is None else shape[1 if transposed else 0]
    given = shape_of(data)
    is_flattened = view_of(node.run.framework.dialect).flattens_products and node.get("flatten") is not False
    if given is not None and len(given) > 2 and ((columns >= 0 and given[-1] != columns) or is_flattened):
        data = op.Reshape(data, [0, -1], special_zero=True)
    product = op.MatMul(data, weights, transpose_b=transposed)
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
