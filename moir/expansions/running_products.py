"""Prefixes of the elements along an axis, and running products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.builder import OpBuilder


def prefixes_of(op: OpBuilder, x: SSAValue, axis: int, neutral: float, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """For each element the elements up to it along an axis, stacked along a new dimension before the axis.

    The axis is negative. Elements after the prefix are replaced by `neutral`. With `exclusive` the prefix does not
    contain the element itself; with `reverse` it contains the elements after it.
    """
    size = op.Squeeze(op.Gather(op.ShapeOf(x), [axis], 0), [0])
    positions = op.Range(op.constant(0, si64), size, op.constant(1, si64), output_type=si64)
    compare = {
        (False, False): op.LessEqual,
        (True, False): op.Less,
        (False, True): op.GreaterEqual,
        (True, True): op.Greater,
    }[exclusive, reverse]
    counts = compare(positions, op.Unsqueeze(positions, [1]))
    if axis < -1:
        counts = op.Unsqueeze(counts, list(range(2, 1 - axis)))
    return op.Select(counts, op.Unsqueeze(x, [axis - 1]), neutral)


def running_product(op: OpBuilder, x: SSAValue, axis: int, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """The cumulative products along a negative axis; `exclusive` and `reverse` as in opset3.CumSum.

    If the length of the axis is static, products of 1, 2, 4, … neighbours are multiplied; otherwise each prefix is
    multiplied on its own.
    """
    shape = shape_of(x)
    if shape is None or shape[axis] < 0:
        return op.ReduceProd(prefixes_of(op, x, axis, 1, exclusive=exclusive, reverse=reverse), [axis], keep_dims=False)
    x = op.Slice(x, [-1], [-(2**31)], [-1], [axis]) if reverse else x
    x = _moved(op, x, axis, 1) if exclusive else x
    distance = 1
    while distance < shape[axis]:
        x, distance = op.Multiply(x, _moved(op, x, axis, distance)), distance * 2
    return op.Slice(x, [-1], [-(2**31)], [-1], [axis]) if reverse else x


def _moved(op: OpBuilder, x: SSAValue, axis: int, distance: int) -> SSAValue:
    """x shifted along an axis by `distance` elements; the first `distance` elements become 1."""
    pads = [0] * (rank_of(x) or 1)
    pads[axis] = distance
    padded = op.Pad(x, pads, [0] * len(pads), op.constant_like(1, x), pad_mode="constant")
    return op.Slice(padded, [0], [-distance], [1], [axis])
