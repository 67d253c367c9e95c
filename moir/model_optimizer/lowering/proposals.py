"""Proposals, whose operand for the size of the image is a matrix in Model Optimizer, and a 1-D tensor in the IR."""

from __future__ import annotations

from typing import Any

from moir.dialects.shapes import rank_of, shape_of
from moir.model_optimizer.lowering.layout import channel_first
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.operation import of_operation_set
from moir.model_optimizer.lowering.table import lowers
from moir.model_optimizer.lowering.versions import standard_operation
from moir.rewriting.builder import OpBuilder

_SCORES, _OFFSETS, _SIZE = range(3)
_ENTRIES = 4
"""Maximum number of elements of the operand for the image: height, width and scales."""


@lowers("Proposal")
def proposals(node: MoLoweringNode, op: OpBuilder) -> Any:
    """mo.Proposal(scores, offsets, size) -> opset4.Proposal(scores, offsets, size)

    Scores and offsets become [N, channels, height, width]. Only the first three entries of a size [1, n] with more
    than four are used.
    """
    operation = standard_operation(node.kind, node.get("version"))
    if operation is None:
        return NotImplemented
    operands = tuple(node.operands)
    presented = [channel_first(node, op, operands[index]) for index in (_SCORES, _OFFSETS)]
    size = op.Reshape(operands[_SIZE], [-1], special_zero=False) if rank_of(operands[_SIZE]) == 2 else operands[_SIZE]
    if (shape := shape_of(size)) is not None and shape[0] > _ENTRIES:
        size = op.Gather(size, [0, 1, 2], 0)
    node.op.operands = [*presented, size]
    try:
        return of_operation_set(node, op, operation)
    finally:
        node.op.operands = operands
