"""Slices.

    %y = onnx.Slice(%x, [1], [9], [2], [3])
->  %y = opset8.Slice(%x, [1], [9], [3], [2])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, element_of, shape_of, size_along
from moir.expansions.shape_values import all_axes, dimension_list, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.strings.movement import moves_strings_to_fixed_places
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


@onnx.lowers("Slice")
def slice_attributes(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.Slice(x) {starts, ends, axes} -> opset8.Slice(x, starts, ends, 1, axes)"""
    starts, ends = (op.constant(node.integers(name), si64) for name in ("starts", "ends"))
    axes = node.integers("axes", range(len(node.integers("starts"))))
    steps = op.constant([1] * len(axes), si64)
    return op.Slice(node.operand(0), _certain_starts(op, node.operand(0), (starts, ends, steps), axes), ends, steps, axes)


@onnx.lowers("Slice", since=10)
@moves_strings_to_fixed_places
def slice_operands(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.Slice(x, starts, ends, axes, steps) -> opset8.Slice(x, starts, ends, steps, axes)"""
    axes, positions = node.optional(3), node.constant_integers(3)
    if axes is not None and positions is None:
        return _sliced_along_computed_axes(node, op)
    data, (starts, ends, steps) = node.operand(0), _bounds(node, op)
    return op.Slice(data, _certain_starts(op, data, (starts, ends, steps), positions), ends, steps, axes)


def _bounds(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Starts, ends and steps, which are 1 if there are none."""
    starts, ends, axes, steps = node.operand(1), node.operand(2), node.optional(3), node.optional(4)
    if steps is None:
        counts = [element_count(shape_of(value)) for value in (starts, ends, axes) if value is not None]
        count = next((count for count in counts if count is not None), None)
        one = op.constant_like(1, starts)
        steps = op.Broadcast(one, op.ShapeOf(starts)) if count is None else op.constant([1] * count, element_of(starts))
    return starts, ends, steps


def _certain_starts(op: OpBuilder, data: SSAValue, bounds: Sequence[SSAValue], axes: Sequence[int] | None) -> SSAValue:
    """Starts that mean the same as those of some starts, ends and steps, and of which the runtime infers right sizes.

    The runtime (2026.4) infers that nothing is between two places counted from the end if the first is not behind the
    second in a backward slice, though the first element is if both places lie before it; and that nothing is between a
    place counted from the end and one counted from the begin, or in a backward slice the other way round, once it knows
    a limit of the size.
    """
    starts, stops, steps = (op.known.integers(bound) for bound in bounds)
    if starts is None or stops is None or steps is None or not len(starts) == len(stops) == len(steps):
        return bounds[0]
    shape, places = shape_of(data), range(len(starts)) if axes is None else axes
    unknown = [shape is None or not -len(shape) <= axis < len(shape) or size_along(shape, axis) < 0 for axis in places]
    cuts = list(zip(starts, stops, steps, unknown, strict=True)) if len(unknown) == len(starts) else []
    parts: list[SSAValue] = []
    for (start, stop, step, is_unknown), axis in zip(cuts, places, strict=False):
        if is_unknown and step < 0 and stop < 0 and (start >= 0 or start <= stop):
            last = op.Subtract(dimension_list(op, data, axis), 1)
            parts.append(op.Minimum(last, max(start, 0)))
        elif is_unknown and step > 0 and start < 0 < stop < np.iinfo(np.int32).max:
            parts.append(op.Maximum(op.Add(dimension_list(op, data, axis), start), 0))
        else:
            parts.append(op.constant([start], si64))
    if all(op.known.constant(part) is not None for part in parts):
        return bounds[0]
    return op.convert(op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0], element_of(bounds[0]))


def _sliced_along_computed_axes(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Data cut along all axes, of which those that are not listed stay whole.

    The CPU plugin (2026.4) crashes on computed axes.
    """
    data = node.operand(0)
    rank = rank_value(op, data)
    places = op.FloorMod(op.convert(node.operand(3), si64), rank)
    wholes = (0, np.iinfo(np.int32).max, 1)
    lists = [
        op.ScatterUpdate(op.Broadcast(op.constant(whole), rank), places, op.convert(each, si64), 0)
        for whole, each in zip(wholes, _bounds(node, op), strict=True)
    ]
    return op.Slice(data, *lists, all_axes(op, data))
