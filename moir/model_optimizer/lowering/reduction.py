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


_REDUCE_TYPES: dict[str, str] = {
    **{type_.lower(): f"Reduce{type_}" for type_ in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2")},
    "all": "ReduceLogicalAnd",
    "any": "ReduceLogicalOr",
}
"""`reduce_type` of a Reduce, as releases until 2018 had it -> operation."""


@lowers("Reduce")
def reduction_of_type(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Reduce(x, axes) {reduce_type = "sum", axis, keep_dims} -> opset1.ReduceSum(x, axes); likewise other reductions

    Raises ConversionError for an unknown `reduce_type`.
    """
    type_ = node.text("reduce_type")
    if type_ not in _REDUCE_TYPES:
        node.fail(f"its reduce_type {type_!r} is not one of {', '.join(_REDUCE_TYPES)}")
    return _reduced(node, op, _REDUCE_TYPES[type_])


@lowers(*REDUCTIONS)
def reduction(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.ReduceSum(x) {axis, keep_dims} -> opset1.ReduceSum(x, axis); without axes over all of them"""
    if node.type is not None and node.optional(1) is not None:
        return NotImplemented
    return _reduced(node, op, REDUCTIONS[node.kind])


def _reduced(node: MoLoweringNode, op: OpBuilder, operation: str) -> Replacement:
    data = node.operand(0)
    axes: Any = node.optional(1)
    if axes is None:
        listed = node.axes("axis", "axes")
        axes = list(listed) if listed is not None else list(range(node.rank_of_value(data)))
    return getattr(op, operation)(data, axes, keep_dims=node.flag("keep_dims"))
