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
    """The sums, or means, of the rows of a table at indices [bags, rows of a bag], each times its weight."""
    rows = op.Gather(table, indices, axis=0)
    if weights is not None:
        others = list(range(2, 1 + node.known_rank(0)))
        rows = op.Mul(rows, op.Unsqueeze(weights, others) if others else weights)
    return op.reduced("ReduceSum" if node.text("reduction", "sum") == "sum" else "ReduceMean", rows, [1], keepdims=False)
