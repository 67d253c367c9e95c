"""Prior boxes, whose operands are feature maps and images in Model Optimizer, and the sizes of these in the IR."""

from __future__ import annotations

from typing import Any

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.operation import of_operation_set
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.lowering.versions import standard_operation
from moir.rewriting.builder import OpBuilder


@lowers("PriorBox", "PriorBoxClustered")
def prior_boxes(node: MoLoweringNode, op: OpBuilder) -> Any:
    """mo.PriorBoxClustered(features, image) -> opset1.Unsqueeze(opset1.PriorBoxClustered(sizes of both), 0)

    If the operands are sizes already, they are kept.
    """
    if any(rank_of(node.operand(index)) != 4 for index in range(2)):
        return NotImplemented
    axes = [1, 2] if node.is_channel_last else [2, 3]
    for index in range(2):
        node.op.operands[index] = op.Gather(op.ShapeOf(node.operand(index), output_type=si64), axes, 0)
    operation = standard_operation(node.kind, node.get("version"))
    if operation is None:
        return NotImplemented
    [boxes] = of_operation_set(node, op, operation)
    return op.Unsqueeze(boxes, [0])
