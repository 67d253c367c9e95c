"""Writing elements at computed positions."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


@mxnet.lowers("scatter_nd", "_scatter_set_nd")
def scatter_nd(node: LoweringNode, op: OpBuilder, *, shape: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.scatter_nd(values, indices [M, …]) {shape} -> opset3.ScatterNDUpdate(zeros, indices as […, M], values)"""
    is_set = node.op.KIND == "_scatter_set_nd"
    values, index_rows = (node.operand(1), node.operand(2)) if is_set else (node.operand(0), node.operand(1))
    rank = rank_of(index_rows)
    if rank is None:
        node.fail("the rank of its indices is dynamic")
    indices = op.transposed(op.convert(index_rows, si64), [*range(1, rank), 0])
    zeros = op.Broadcast(op.ConvertLike(op.constant(0.0), values), list(shape))
    return op.ScatterNDUpdate(node.operand(0) if is_set else zeros, indices, values)
