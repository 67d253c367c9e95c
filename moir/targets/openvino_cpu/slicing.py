"""Slices that the CPU plugin computes wrongly, or whose shapes the runtime infers wrongly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import si64
from moir.dialects.opset.indexing import GatherElements
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.slicing import Slice, StridedSlice
from moir.dialects.shapes import element_count, element_of, normalize_axis, rank_of, shape_of, size_along
from moir.expansions.shape_values import all_axes, dimension_list, rank_value
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

LAST = int(np.iinfo(np.int32).max)
"""A stop index after all elements."""


class SliceAlongComputedAxes(Pattern):
    """Slices data along all axes instead of computed ones; the slice along an axis that is not listed takes all
    elements.

        %y = opset8.Slice(%x, %start, %stop, %step, %axes)   // %x: [?, ?]
    ->  %0 = opset3.ScatterUpdate([0, 0], %axes, %start, 0)
        …
        %y = opset8.Slice(%x, %0, %1, %2, [0, 1])

    The plugin terminates the process on a Slice with computed axes.
    """

    roots = (Slice,)

    def may_match(self, op: Operation) -> bool:
        if len(op.operands) < 5 or constant_of(op.operands[4]) is not None:
            return False
        # If the rank of the data is dynamic, the tensor of all axes is a Range.
        return not (isinstance(op.operands[4].owner, OpsetOp) and op.operands[4].owner.KIND == "Range")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *bounds, axes = op.operands
        if rewriter.known.integers(axes) is not None:
            return
        build = rewriter.op
        rank = rank_value(build, data)
        places = build.FloorMod(build.convert(axes, si64), rank)
        lists = [
            build.ScatterUpdate(build.Broadcast(build.constant(whole), rank), places, build.convert(each, si64), 0)
            for whole, each in zip((0, LAST, 1), bounds, strict=True)
        ]
        rewriter.replace_with(op, build.Slice(data, *lists, all_axes(build, data)))


class StartCountedFromEnd(Pattern):
    """Counts the start of a slice from the same end as its stop if the size is dynamic.

        %y = opset8.Slice(%x, [-3], [2], [1], [0])           // %x: [?]
    ->  %0 = opset1.Maximum(opset3.ShapeOf(%x) - 3, 0)
        %y = opset8.Slice(%x, %0, [2], [1], [0])

    The runtime infers an empty result in two cases in which it is not always empty:
    - a backward slice whose start and stop are both counted from the end, where both may lie before the first element;
    - a slice whose start is counted from the end and whose stop is counted from the beginning (in a backward slice the
      other way round), if an upper bound of the size is known.
    """

    roots = (Slice,)

    def may_match(self, op: Operation) -> bool:
        return -1 in (shape_of(op.results[0]) or (-1,))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, start, *others = op.operands
        axes = rewriter.known.integers(others[2]) if len(others) > 2 else None
        if len(others) > 2 and axes is None:
            return
        certain = _certain_starts(rewriter.op, data, (start, *others[:2]), axes)
        if certain is not None:
            rewriter.replace_with(op, rewriter.op.Slice(data, certain, *others))


def _certain_starts(op: OpBuilder, data: SSAValue, bounds: Sequence[SSAValue], axes: Sequence[int] | None) -> SSAValue | None:
    """Starts of a Slice that select the same elements, and for which the runtime infers the right sizes.

    None if the runtime infers the right sizes for the present starts. `bounds` are starts, stops and steps; without
    `axes` the bounds are for the first axes.
    """
    starts, stops, steps = (op.known.integers(bound) for bound in bounds)
    if starts is None or stops is None or steps is None or not len(starts) == len(stops) == len(steps):
        return None
    shape, places = shape_of(data), range(len(starts)) if axes is None else axes
    unknown = [shape is None or not -len(shape) <= axis < len(shape) or size_along(shape, axis) < 0 for axis in places]
    cuts = list(zip(starts, stops, steps, unknown, strict=True)) if len(unknown) == len(starts) else []
    backward = [is_unknown and step < 0 and stop < 0 and (start >= 0 or start <= stop) for start, stop, step, is_unknown in cuts]
    forward = [is_unknown and step > 0 and start < 0 < stop < LAST for start, stop, step, is_unknown in cuts]
    if not any((*backward, *forward)):
        return None
    parts: list[SSAValue] = []
    for start, axis, is_backward, is_forward in zip(starts, places, backward, forward, strict=True):
        if is_backward:
            parts.append(op.Minimum(op.Subtract(dimension_list(op, data, axis), 1), max(start, 0)))
        elif is_forward:
            parts.append(op.Maximum(op.Add(dimension_list(op, data, axis), start), 0))
        else:
            parts.append(op.constant([start], si64))
    return op.convert(op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], element_of(bounds[0]))


class NewAxisBeforeElement(Pattern):
    """Inserts the new axes of a StridedSlice by an Unsqueeze after it where axes that are removed follow them.

        %y = opset1.StridedSlice(%x, [0, 2], [0, 3]) {new_axis_mask = [1, 0], shrink_axis_mask = [0, 1], …}
    ->  %0 = opset1.StridedSlice(%x, [2], [3]) {shrink_axis_mask = [1], …}
        %y = opset1.Unsqueeze(%0, [0])

    The plugin reads wrong elements if a new axis comes before a removed one.
    """

    roots = (StridedSlice,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, StridedSlice)
        new, single = op.integers("new_axis_mask"), op.integers("shrink_axis_mask")
        return any(new) and any(single) and new.index(1) < len(single) - 1 - single[::-1].index(1)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, StridedSlice)
        data, *bounds = op.operands
        count = next((count for each in bounds if (count := element_count(shape_of(each))) is not None), None)
        if count is None:
            return
        masks = {name: _padded(op.integers(name), count) for name in MASKS}
        kept = [position for position in range(count) if not masks["new_axis_mask"][position] or masks["ellipsis_mask"][position]]
        build = rewriter.op
        indexed = build.StridedSlice(
            data,
            *(_entries(build, each, kept) for each in bounds),
            **{name: [mask[position] for position in kept] for name, mask in masks.items()} | {"new_axis_mask": [0] * len(kept)},
        )
        rewriter.replace_with(op, build.Unsqueeze(indexed, _new_axes(masks)))


class SliceOfGatheredData(Pattern):
    """Replaces a Slice of first elements, whose result is the data of a GatherElements, by a StridedSlice.

        %0 = opset8.Slice(%x, [0], %n, [1], [1])             // %x: [2, ?]
        %y = opset6.GatherElements(%0, %i) {axis = 0}
    ->  %1 = opset1.StridedSlice(%x, [0, 0], opset1.Concat([0], %n), [1, 1]) {begin_mask = [1, 1], end_mask = [1, 0], …}
        %y = opset6.GatherElements(%1, %i) {axis = 0}

    The runtime removes the Slice, and rejects the model because the shapes of data and indices then contradict each
    other.
    """

    roots = (GatherElements,)
    companions = ((Slice,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, Slice)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, GatherElements)
        cut = cast(Operation, op.operands[0].owner)
        data, start, stop, step = cut.operands[:4]
        starts, steps, rank = rewriter.known.integers(start), rewriter.known.integers(step), rank_of(data)
        if starts is None or steps is None or rank is None or {*starts} != {0} or {*steps} != {1}:
            return
        axes = rewriter.known.integers(cut.operands[4]) if len(cut.operands) > 4 else tuple(range(len(starts)))
        if axes is None:
            return
        build = rewriter.op
        places = {normalize_axis(axis, rank): place for place, axis in enumerate(axes)}
        known = rewriter.known.integers(stop)
        if known is not None:
            ends = build.constant([known[places[axis]] if axis in places else 0 for axis in range(rank)], si64)
        else:
            last = build.convert(stop, si64)
            each = [last] if len(places) == 1 else [build.Gather(last, [place], 0) for place in range(len(places))]
            ends = build.Concat(*(each[places[axis]] if axis in places else build.constant([0], si64) for axis in range(rank)), axis=0)
        first = build.StridedSlice(
            data,
            [0] * rank,
            ends,
            [1] * rank,
            begin_mask=[1] * rank,
            end_mask=[int(axis not in places) for axis in range(rank)],
        )
        rewriter.replace_with(op, build.GatherElements(first, op.operands[1], axis=op.integer("axis")))


MASKS = ("begin_mask", "end_mask", "new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


def _padded(mask: Sequence[int], count: int) -> list[int]:
    return [*mask, *[0] * (count - len(mask))]


def _entries(op: OpBuilder, bounds: SSAValue, positions: Sequence[int]) -> SSAValue:
    """The elements of a 1-D tensor of bounds at the given indices."""
    known = constant_of(bounds)
    if known is None:
        return op.Gather(bounds, list(positions), 0)
    return op.constant(known[list(positions)], element_of(bounds))


def _new_axes(masks: dict[str, list[int]]) -> list[int]:
    """The axes of a StridedSlice's result that the slice inserts, given its masks by property name.

    Axes after an ellipsis are negative.
    """
    axes: list[int] = []
    axis = 0
    for position, (is_new, is_single, is_rest) in enumerate(
        zip(masks["new_axis_mask"], masks["shrink_axis_mask"], masks["ellipsis_mask"], strict=True)
    ):
        if is_rest:
            after = zip(masks["new_axis_mask"][position + 1 :], masks["shrink_axis_mask"][position + 1 :], strict=True)
            axis = -sum(bool(new) or not single for new, single in after)
        elif is_new:
            axes.append(axis)
            axis += 1
        elif not is_single:
            axis += 1
    return axes


FORMS = (
    Form(
        "complete-slices",
        (SliceAlongComputedAxes, StartCountedFromEnd, NewAxisBeforeElement, SliceOfGatheredData),
        "Rewrites slices with computed axes, bounds from both ends, new dimensions, or gathered data.",
        after=("search-along-axes",),
        faults=(
            Fault("slice-computed-axes", "Slice along computed axes", "ends the process"),
            Fault("slice-from-end", "backward Slice between negative indices, of a dynamic dimension that is smaller", "does not run"),
            Fault(
                "slice-of-gathered",
                "Slice of the first elements of the data of a GatherElements",
                "is removed, and the model refused as its shapes contradict each other",
            ),
        ),
    ),
)
