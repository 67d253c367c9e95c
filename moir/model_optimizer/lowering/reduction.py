"""Reductions whose axes are an attribute."""

from __future__ import annotations

from typing import Any

from moir.lowering.table import Replacement
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder

REDUCTIONS: dict[str, str] = {
    **{kind: kind for kind in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2")},
    **{kind: kind for kind in ("ReduceLogicalAnd", "ReduceLogicalOr")},
    "ReduceAnd": "ReduceLogicalAnd",
    "ReduceOr": "ReduceLogicalOr",
}
"""Kind -> operation."""


@lowers(*REDUCTIONS)
def reduction(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.ReduceSum(x) {axis, keep_dims} -> opset1.ReduceSum(x, axis); without axes over all of them"""
    if node.type is not None and node.optional(1) is not None:
        return NotImplemented
    data = node.operand(0)
    axes: Any = node.optional(1)
    if axes is None:
        listed = node.axes("axis", "axes")
        axes = list(listed) if listed is not None else list(range(node.rank_of_value(data)))
    return getattr(op, REDUCTIONS[node.kind])(data, axes, keep_dims=node.flag("keep_dims"))
