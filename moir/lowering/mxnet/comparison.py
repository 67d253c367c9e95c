"""Selection between two tensors by a condition."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("_npi_where_lscalar", "_npi_where_rscalar", "_npi_where_scalar2")
def where_scalar(
    node: LoweringNode, op: OpBuilder, condition_: SSAValue, *, scalar: float = 0.0, x_: float = 0.0, y: float = 0.0
) -> SSAValue:
    """mxnet._npi_where_lscalar(condition, x) {scalar} -> opset1.Select(condition != 0, scalar, x), and so on"""
    condition, kind = op.NotEqual(condition_, 0), node.op.KIND
    if kind.endswith("scalar2"):
        return op.Select(condition, op.constant(x_), op.constant(y))
    x = node.operand(1)
    number = op.constant_like(scalar, x)
    return op.Select(condition, number, x) if kind.endswith("lscalar") else op.Select(condition, x, number)


@mxnet.lowers("where", "_npi_where")
def where(node: LoweringNode, op: OpBuilder, condition_: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """mxnet.where(condition, a, b) -> opset1.Select(condition != 0, a, b); a condition of one dimension selects rows"""
    condition = op.NotEqual(condition_, 0)
    own, rank = rank_of(condition), rank_of(a)
    if node.op.KIND == "where" and own == 1 and rank is not None and rank > 1:
        condition = op.Reshape(condition, [-1, *[1] * (rank - 1)], special_zero=False)
    return op.Select(condition, a, b)
