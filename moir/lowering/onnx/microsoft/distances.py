"""Distances between rows: CDist of the domain com.microsoft, and squared distances to constant rows.

    %y = onnx.com.microsoft.CDist(%a, %b) {metric = "euclidean"}
->  %y = Sqrt(Maximum(squares of %a + squares of %b - 2 * MatMul(%a, %b), 0))
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


def squared_distances(op: OpBuilder, x: SSAValue, rows: Array, limit: float) -> SSAValue:
    """The squared distances [N, K] of rows x [N, F] and constant rows [K, F].

    They are computed from products, with errors in proportion to the norms of the rows. If the squared norm of a
    constant row is more than `limit` times the mean of all, they are computed from differences.
    """
    centre = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    centred = rows - centre
    sizes = (centred.astype(np.float64) ** 2).sum(axis=1)
    if sizes.max(initial=0) > limit:
        return op.ReduceSum(op.SquaredDifference(op.Unsqueeze(x, [1]), rows[None]), [2], keep_dims=False)
    return _from_products(op, op.Subtract(x, centre[None]), op.constant(centred), op.constant(sizes.astype(rows.dtype)[None]))


def _from_products(op: OpBuilder, a: SSAValue, b: SSAValue, sizes: SSAValue) -> SSAValue:
    """The squared distances of rows a [N, F] and b [K, F]; `sizes` are the squared norms [1, K] of b."""
    sums = op.Add(op.ReduceSum(op.Multiply(a, a), [1], keep_dims=True), sizes)
    return op.Maximum(op.Subtract(sums, op.Multiply(op.MatMul(a, b, transpose_b=True), 2.0)), 0.0)


@onnx.lowers("com.microsoft.CDist")
def distances(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue, *, metric: str = "sqeuclidean") -> SSAValue:
    """onnx.com.microsoft.CDist(a, b) {metric} -> Sqrt of the squared distances of the rows of a and b"""
    if metric not in ("euclidean", "sqeuclidean"):
        node.fail(f"the metric {metric!r} is not supported")
    rows = op.known.constant(b)
    if rows is not None and rows.size:
        squared = squared_distances(op, a, rows, np.inf)
    else:
        sizes = op.Unsqueeze(op.ReduceSum(op.Multiply(b, b), [1], keep_dims=False), [0])
        squared = _from_products(op, a, b, sizes)
    return op.Sqrt(squared) if metric == "euclidean" else squared
