"""Maxima of windows with their indices, which the CPU plugin computes wrongly for dynamic dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import to_numpy
from moir.dialects.opset.pooling import IndexedMaxPoolOp
from moir.dialects.shapes import element_of, is_static, normalize_axis, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

if TYPE_CHECKING:
    from moir.rewriting.builder import OpBuilder


class IndicesOfAutomaticPadding(Pattern):
    """Pads data of dynamic shape before a MaxPool of which the indices are used, and converts the indices.

        %y, %i = opset14.MaxPool(%x) {auto_pad = same_upper, axis = 2}
    ->  %p = opset12.Pad(%x, …, lowest number)
        %y, %j = opset14.MaxPool(%p) {auto_pad = valid, axis = 2}
        %i = (%j / width of %p - top) * width of %x + %j mod width of %p - left

    The plugin takes the sizes of automatic padding for 0 if they are not known while it compiles the model.
    """

    roots = ("opset8.MaxPool", "opset14.MaxPool")

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, IndexedMaxPoolOp)
        shape = shape_of(op.operands[0])
        is_unknown = shape is None or not is_static(shape[2:])
        return is_unknown and op.text("auto_pad").startswith("same") and op.results[1].first_use is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, IndexedMaxPoolOp)
        build, x, axes = rewriter.op, op.operands[0], len(op.integers("kernel"))
        front, end = _computed_pads(build, op, x)
        data = _padded(build, x, front, end)
        values, indices = build.create(type(op), [data], {**op.properties, "auto_pad": "valid"}, 2).results
        first = max(normalize_axis(op.integer("axis"), axes + 2), 2) - 2
        rewriter.replace_with(op, [values, _without_pads(build, indices, range(first, axes), front, data, x, op)])


def _computed_pads(op: OpBuilder, pool: IndexedMaxPoolOp, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The numbers of elements that automatic padding adds to x at the beginning and at the end of each spatial axis."""
    kernel, strides = pool.integers("kernel"), pool.integers("strides")
    dilations = pool.integers("dilations") or (1,) * len(kernel)
    sizes = op.Gather(op.ShapeOf(x), list(range(2, len(kernel) + 2)), 0)
    steps = op.constant(list(strides))
    windows = op.Divide(op.Add(sizes, op.Subtract(steps, 1)), steps)
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    covered = op.Add(op.Multiply(op.Subtract(windows, 1), steps), extents)
    total = op.Maximum(op.Subtract(covered, sizes), 0)
    smaller = op.Divide(total, 2)
    larger = op.Subtract(total, smaller)
    return (smaller, larger) if pool.text("auto_pad") == "same_upper" else (larger, smaller)


def _padded(op: OpBuilder, x: SSAValue, front: SSAValue, end: SSAValue) -> SSAValue:
    """x [N, C, …] padded along the spatial axes by `front` elements before and `end` after, all the lowest number of
    its type.
    """
    dtype = to_numpy(element_of(x))
    lowest = np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf
    first, last = (op.Concat([0, 0], each, axis=0) for each in (front, end))
    return op.Pad(x, first, last, op.constant_like(lowest, x), pad_mode="constant")


def _without_pads(
    op: OpBuilder, indices: SSAValue, axes: Sequence[int], front: SSAValue, data: SSAValue, x: SSAValue, pool: IndexedMaxPoolOp
) -> SSAValue:
    """Convert flat indices into padded data to flat indices into the data without padding.

    Args:
        op: the builder.
        indices: the indices, flattened from the attribute `axis` of the pooling on.
        axes: the spatial axes that are part of these indices, counted from 0.
        front: the padding at the beginning of each spatial axis.
        data: the padded data.
        x: the data without padding.
        pool: the pooling.
    """
    element = element_of(indices)
    padded, original = (op.ShapeOf(each, output_type=element) for each in (data, x))
    starts = op.convert(front, element)
    has_outer = normalize_axis(pool.integer("axis"), len(pool.integers("kernel")) + 2) < 2
    rest, positions = indices, list[tuple[int, SSAValue]]()
    for axis in reversed(axes):
        position = rest
        if axis != axes[0] or has_outer:
            size = op.Gather(padded, axis + 2, 0)
            position = op.FloorMod(rest, size)
            rest = op.Divide(op.Subtract(rest, position), size)
        positions.insert(0, (axis, op.Subtract(position, op.Gather(starts, axis, 0))))
    result = rest if has_outer else None
    for axis, position in positions:
        result = position if result is None else op.Add(op.Multiply(result, op.Gather(original, axis + 2, 0)), position)
    assert result is not None
    return result


FORMS = (
    Form(
        "pad-before-indexing",
        (IndicesOfAutomaticPadding,),
        faults=(
            Fault(
                "indices-behind-padding",
                "the indices of MaxPool with automatic padding, of dynamic shape",
                "are those of windows without padding at the beginning",
            ),
        ),
    ),
)
