"""Sums of rows of tables."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset


@opset.lowers("EmbeddingBagPackedSum", "EmbeddingBagPacked")
def embedding_bag_packed(
    node: LoweringNode, op: OnnxBuilder, table: SSAValue, indices: SSAValue, weights: SSAValue | None = None
) -> SSAValue:
    """opset3.EmbeddingBagPackedSum(table, indices [bags, rows of a bag], weights) -> sums of weighted rows; likewise
    opset15.EmbeddingBagPacked, also of means
    """
    rows = op.Gather(table, indices, axis=0)
    if weights is not None:
        others = list(range(2, 1 + node.known_rank(0)))
        rows = op.Mul(rows, op.Unsqueeze(weights, others) if others else weights)
    return op.reduced("ReduceSum" if node.text("reduction", "sum") == "sum" else "ReduceMean", rows, [1], keepdims=False)
