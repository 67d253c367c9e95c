"""Numerical derivatives of samples, by differences of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Tensors, axis_from_front, present
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

_END = 2**31 - 1


@aten.lowers(
    *(f"gradient.{overload}" for overload in ("scalarint", "scalararray", "array", "scalarrayint", "scalarrayarray")),
    *("gradient.tensorarrayint", "gradient.tensorarray"),
)
def gradient(node: LoweringNode, op: OpBuilder, self: SSAValue, *, dim: tuple[int, ...] = (), edge_order: int = 1) -> list[SSAValue]:
    """aten.gradient.scalarint(x) {spacing, dim, edge_order} -> the derivative along each axis

    Inside it is the derivative of the parabola through three neighbours; at both ends it is that of the line through
    two samples, or of the parabola through three. The spacing is a distance or the coordinates of each axis.
    """
    rank = node.known_rank(0)
    axes = [axis_from_front(node, each, rank) for each in dim] or list(range(rank))
    element = inferred_element(node)
    x = op.convert(self, element)
    if node.op.KIND.startswith("gradient.tensorarray"):
        coordinates = as_element(op, element, *present(node, _coordinates(node)))
        if len(coordinates) != len(axes):
            node.fail(f"there are coordinates of {len(coordinates)} axes, not of {len(axes)}")
        return [_along(op, x, axis, each, edge_order) for axis, each in zip(axes, coordinates, strict=True)]
    distances = _distances(node, len(axes))
    if len(distances) != len(axes):
        node.fail(f"there are {len(distances)} distances for {len(axes)} axes")
    return [_even(op, x, axis, each, edge_order) for axis, each in zip(axes, distances, strict=True)]


def _distances(node: LoweringNode, count: int) -> Sequence[float]:
    """The distances of neighbouring samples along each of `count` axes, from the attribute `spacing`, a number or a
    list; 1 without.
    """
    spacing: Any = node.attribute("spacing", None)
    if isinstance(spacing, tuple):
        return node.numbers("spacing")
    return [1.0 if spacing is None else float(spacing)] * count


def _coordinates(node: LoweringNode) -> Tensors:
    names = node.texts("arguments", ())
    return [value for name, value in zip(names, node.op.operands, strict=False) if name.startswith("spacing.")]


def _part(op: OpBuilder, x: SSAValue, axis: int, start: int, end: int) -> SSAValue:
    return op.Slice(x, [start], [end], [1], [axis])


def _even(op: OpBuilder, x: SSAValue, axis: int, distance: float, order: int) -> SSAValue:
    """The derivative along an axis of samples at equal distances; at both ends by differences of `order` 1 or 2."""
    inside = op.Divide(op.Subtract(_part(op, x, axis, 2, _END), _part(op, x, axis, 0, -2)), 2 * distance)
    ends: list[SSAValue] = []
    for points in ((0, 1, 2), (-1, -2, -3)):
        sign = 1 if points[0] == 0 else -1
        near, next_, third = (op.Gather(x, op.constant([each]), axis) if index <= order else None for index, each in enumerate(points))
        assert near is not None
        assert next_ is not None
        if third is None:
            slope = op.Subtract(next_, near)
        else:
            slope = op.Subtract(op.Multiply(next_, 2.0), op.Add(op.Multiply(near, 1.5), op.Multiply(third, 0.5)))
        ends.append(op.Divide(slope, sign * distance))
    return op.Concat(ends[0], inside, ends[1], axis=axis)


def _along(op: OpBuilder, x: SSAValue, axis: int, coordinates: SSAValue, order: int) -> SSAValue:
    """The derivative along an axis of samples at given coordinates; at both ends by differences of `order` 1 or 2."""
    rank = rank_of(x) or 1

    def column(value: SSAValue) -> SSAValue:
        return op.Reshape(value, [-1 if each == axis else 1 for each in range(rank)], special_zero=False)

    steps = op.Subtract(_part(op, coordinates, 0, 1, _END), _part(op, coordinates, 0, 0, -1))
    before, after = column(_part(op, steps, 0, 0, -1)), column(_part(op, steps, 0, 1, _END))
    one = op.constant_like(1, before)
    # The weights of the neighbours before, at and after each sample.
    a = op.Negative(op.Divide(after, op.Multiply(before, op.Add(before, after))))
    c = op.Divide(before, op.Multiply(after, op.Add(before, after)))
    b = op.Subtract(op.Divide(one, before), op.Divide(one, after))
    parts = [_part(op, x, axis, *bounds) for bounds in ((0, -2), (1, -1), (2, _END))]
    inside = op.Add(op.Add(op.Multiply(parts[0], a), op.Multiply(parts[1], b)), op.Multiply(parts[2], c))
    first, last = _edge(op, x, axis, steps, (0, 1, 2), order), _edge(op, x, axis, steps, (-1, -2, -3), order)
    return op.Concat(first, inside, last, axis=axis)


def _edge(op: OpBuilder, x: SSAValue, axis: int, steps: SSAValue, points: tuple[int, int, int], order: int) -> SSAValue:
    """The derivative at an end of an axis: of the line through two samples (`order` 1) or the parabola through three.

    `points` are the indices of the samples nearest to the end, `steps` the distances of neighbouring samples.
    """
    sign = 1 if points[0] == 0 else -1
    samples = [op.Gather(x, op.constant([each]), axis) for each in points[: order + 1]]
    near = op.Multiply(op.Gather(steps, op.constant(points[0]), 0), float(sign))
    if order == 1:
        return op.Divide(op.Subtract(samples[1], samples[0]), near)
    far = op.Multiply(op.Gather(steps, op.constant(points[1]), 0), float(sign))
    both = op.Add(near, far)
    a = op.Negative(op.Divide(op.Add(op.Multiply(near, 2.0), far), op.Multiply(near, both)))
    b = op.Divide(both, op.Multiply(near, far))
    c = op.Negative(op.Divide(near, op.Multiply(far, both)))
    return op.Add(op.Add(op.Multiply(samples[0], a), op.Multiply(samples[1], b)), op.Multiply(samples[2], c))
