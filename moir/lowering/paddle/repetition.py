"""Repetition of elements: tiles, and each element several times.

Source: tile_op.cc, expand_op.cc, expand_as_op.cc and repeat_interleave_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.paddle.operands import axes_of, vector_of
from moir.lowering.paddle.table import paddle
from moir.rewriting.builder import OpBuilder


@paddle.lowers("tile", "expand", complex=by_parts())
def tile(op: OpBuilder, x: SSAValue, repeats: SSAValue) -> SSAValue:
    """paddle.tile(x, repeats) -> opset1.Tile(x, repeats); `expand` likewise"""
    return op.Tile(x, vector_of(op, repeats))


@paddle.lowers("expand_as")
def tile_as(op: OpBuilder, x: SSAValue, target: SSAValue) -> SSAValue:
    """paddle.expand_as(x, target) -> opset1.Tile(x, sizes of the target / sizes of x)"""
    return op.Tile(x, op.Divide(op.ShapeOf(target), op.ShapeOf(x)))


@paddle.lowers("repeat_interleave")
def repeat_interleave(
    node: LoweringNode, op: OpBuilder, x: SSAValue, repeats: SSAValue | None = None, *, Repeats: int = 0, dim: int = 0
) -> SSAValue:
    """paddle.repeat_interleave(x) {Repeats, dim} -> opset8.Gather, which repeats each element of the axis

    The operand `repeats` may have a count for each element, constant or computed.
    """
    axis, size = axes_of(node, [dim])[0], (shape_of(x) or ())[axes_of(node, [dim])[0]]
    if repeats is not None:
        counts = node.constant_integers(1)
        if counts is not None and size >= 0 and len(counts) in (1, size) and min(counts) >= 0:
            return op.Gather(x, np.repeat(np.arange(size), counts), axis)
        # Element i has the indices up to the sum of the first i + 1 counts.
        counts_ = op.Broadcast(vector_of(op, repeats), dimension_list(op, x, axis))
        ends = op.CumSum(counts_, 0)
        positions = op.Range(op.constant(0), op.ReduceSum(counts_, [0], keep_dims=False), op.constant(1), output_type=si64)
        return op.Gather(x, op.SearchSorted(ends, positions, right_mode=True, output_type=si64), axis)
    length = op.Multiply(op.Gather(op.ShapeOf(x), axis, 0), Repeats)
    positions = op.Range(op.constant(0), length, op.constant(1), output_type=si64)
    return op.Gather(x, op.Divide(positions, Repeats, m_pythondiv=False), axis)
