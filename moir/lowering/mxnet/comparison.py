"""The choice between two values."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_npi_where_lscalar", "_npi_where_rscalar", "_npi_where_scalar2")
def where_scalar(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet._npi_where_lscalar(condition, x) {scalar} -> opset1.Select(condition != 0, scalar, x), and so on"""
    condition, kind = op.NotEqual(node.operand(0), 0), node.op.KIND
    if kind.endswith("scalar2"):
        return op.Select(condition, op.constant(node.number("x", 0.0)), op.constant(node.number("y", 0.0)))
    x = node.operand(1)
    number = op.constant_like(node.number("scalar", 0.0), x)
    return op.Select(condition, number, x) if kind.endswith("lscalar") else op.Select(condition, x, number)


@mxnet.lowers("where", "_npi_where")
def where(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.where(condition, a, b) -> opset1.Select(condition != 0, a, b); a condition of one dimension selects rows"""
    condition = op.NotEqual(node.operand(0), 0)
    own, rank = rank_of(condition), rank_of(node.operand(1))
    if node.op.KIND == "where" and own == 1 and rank is not None and rank > 1:
        condition = op.Reshape(condition, [-1, *[1] * (rank - 1)], special_zero=False)
    return op.Select(condition, node.operand(1), node.operand(2))
