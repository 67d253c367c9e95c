"""Operands of ONNX nodes in the form that opset operations require: broadcastable shapes, axes, sizes as values."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import element_count, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import with_dimensions_after
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder


def aligned(node: LoweringNode, op: OpBuilder, value: SSAValue, axis: int | None, broadcast: bool) -> SSAValue:
    """The second operand of a binary node, reshaped so that numpy's broadcasting aligns it as the node does.

    Before operator set 7 its dimensions correspond to those of the first operand from `axis` on, so dimensions of 1 are
    appended. Raises ConversionError if this requires the rank of an operand of dynamic rank.
    """
    if node.version >= 7 or not broadcast or axis is None:
        return value
    rank, own = node.known_rank(0), node.known_rank(1)
    after = rank - own - normalize_axis(axis, max(rank, 1))
    if after < 0:
        node.fail(f"a shape of rank {own} cannot be aligned with axis {axis} of a shape of rank {rank}")
    return with_dimensions_after(op, value, after)


def reshaped_like(op: OpBuilder, value: SSAValue, like: SSAValue, kept: int = 0) -> SSAValue:
    """A value reshaped to the shape of `like`; the first `kept` dimensions of both are equal."""
    shape = shape_of(like)
    if shape is not None and len(shape) == kept + 1 and shape[kept] != 0:
        return op.Reshape(value, [*(0,) * kept, -1], special_zero=bool(kept))
    if shape is not None and isinstance(like.owner, Constant):
        return op.Reshape(value, list(shape), special_zero=False)
    return op.Reshape(value, op.ShapeOf(like), special_zero=False)


def declared_rank(node: LoweringNode) -> int | None:
    """The rank of result 0 according to the model file; None if it declares none."""
    return rank_of(node.op.results[0])


def of_length(op: OpBuilder, value: SSAValue, count: int | None) -> SSAValue:
    """A 1-D tensor whose type states the length `count`; the tensor itself if `count` is None or its type is static.

    A shape or axes of dynamic length would give a result of dynamic rank.
    """
    if count is None or element_count(shape_of(value)) is not None:
        return value
    return op.Reshape(value, [count], special_zero=False)


def swapping(op: OpBuilder, axis: SSAValue, target: int, rank: int) -> SSAValue:
    """The order of a Transpose that swaps axis `target` with `axis`, a computed 1-D tensor of one element.

    The same order restores the axes.
    """
    axis = op.FloorMod(op.convert(axis, si64), rank)
    order = op.ScatterUpdate(op.constant(list(range(rank))), axis, [target], 0)
    return op.ScatterUpdate(order, [target], axis, 0)
