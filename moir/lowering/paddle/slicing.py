"""Slices, crops, padding, and values set in slices.

Source: slice_op.cc, strided_slice_op.cc, set_value_op.cc and crop_tensor_op.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.shapes import element_of, normalize_axis, rank_of
from moir.expansions.constant_forms import as_type
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.paddle.operands import attribute_values, axes_of, has_scalars, known_number, vector_of
from moir.lowering.paddle.table import paddle
from moir.lowering.paddle.windows import is_channel_last
from moir.rewriting.builder import OpBuilder

_FAR = 2**31 - 1


def _decreased(node: LoweringNode, op: OpBuilder, value: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A slice without the axes in the attribute `decrease_axis`, along which it has size 1.

    In versions of PaddlePaddle without scalars the first of them stays if no other axis would.
    """
    rank = node.known_rank(0)
    removed = sorted({normalize_axis(axis, rank) for axis in axes})
    if len(removed) == rank and not has_scalars(node):
        removed = removed[1:]
    return op.Squeeze(value, removed) if removed else value


def _numbers(node: LoweringNode, op: OpBuilder, index: int, count: int) -> SSAValue | list[int]:
    """The elements of operand `index`, integers for each of `count` axes.

    Constants are returned as a Python list, clamped to 32 bits; other operands as a 1-D tensor.
    """
    value = node.operand(index)
    known = node.constant_integers(index)
    if known is not None and len(known) != count:
        node.fail(f"operand {index} has {len(known)} numbers for {count} axes")
    return vector_of(op, value) if known is None else [max(min(each, _FAR), -_FAR - 1) for each in known]


@paddle.lowers("slice", complex=by_parts())
def slice_(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _starts: SSAValue,
    _ends: SSAValue,
    *,
    axes: tuple[int, ...],
    decrease_axis: tuple[int, ...] = (),
) -> SSAValue:
    """paddle.slice(x, starts, ends) {axes, decrease_axis} -> opset8.Slice(x, starts, ends, 1, axes)

    The axes of decrease_axis, along which one index is selected, are left out of the result; if that is the only axis,
    opset8.Gather(x, start, axis). A start of -1 is the last index.
    """
    rank = node.known_rank(0)
    wanted = [normalize_axis(axis, rank) for axis in axes]
    starts, ends = (_numbers(node, op, index, len(wanted)) for index in (1, 2))
    removed = {normalize_axis(axis, rank) for axis in decrease_axis}
    if len(wanted) == 1 and removed == set(wanted) and (rank > 1 or has_scalars(node)):
        index = op.constant(starts[0]) if isinstance(starts, list) else op.Squeeze(starts, [0])
        return op.Gather(x, index, wanted[0])
    if removed and not isinstance(starts, list):
        # The end of one entry is not below its start where that counts from the end: -1 to 0.
        is_removed = [axis in removed for axis in wanted]
        after = op.Add(starts, 1)
        after = op.Select(op.Equal(after, 0), op.constant(_FAR, si64), after)
        ends = (
            after
            if all(is_removed)
            else op.Select(op.constant(np.array(is_removed)), after, ends if not isinstance(ends, list) else op.constant(ends))
        )
    elif removed and isinstance(starts, list) and isinstance(ends, list):
        ends = [_FAR if axis in removed and start == -1 else end for axis, start, end in zip(wanted, starts, ends, strict=True)]
    return _decreased(node, op, op.Slice(x, starts, ends, [1] * len(wanted), wanted), decrease_axis)


@paddle.lowers("strided_slice", complex=by_parts())
def strided_slice(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _starts: SSAValue,
    _ends: SSAValue,
    _strides: SSAValue,
    *,
    axes: tuple[int, ...],
    decrease_axis: tuple[int, ...] = (),
) -> SSAValue:
    """paddle.strided_slice(x, starts, ends, strides) {axes} -> opset8.Slice(x, starts, ends, strides, axes)"""
    wanted = axes_of(node, axes)
    starts, ends, steps = (_numbers(node, op, index, len(wanted)) for index in (1, 2, 3))
    if isinstance(ends, list) and isinstance(steps, list):
        # Backwards an end of -1 is before the first element, not the last one.
        ends = [-_FAR if step < 0 and end == -1 else end for end, step in zip(ends, steps, strict=True)]
    return _decreased(node, op, op.Slice(x, starts, ends, steps, wanted), decrease_axis)


@paddle.lowers("partial_sum", "partial_concat")
def partial(node: LoweringNode, op: OpBuilder, *values: SSAValue, start_index: int = 0, length: int = -1) -> SSAValue:
    """paddle.partial_sum(values…) {start_index, length} -> the sum of opset8.Slice(value, start, start + length, 1, 1)
    of each; partial_concat: opset1.Concat of them
    """
    if start_index < 0 and node.op.KIND == "partial_sum":
        node.fail(f"its start_index is {start_index}, before which PaddlePaddle has no elements")
    end = _FAR if length < 0 or start_index < 0 == start_index + length else start_index + length
    parts = [op.Slice(each, [start_index], [end], [1], [1]) for each in values]
    if node.op.KIND == "partial_sum":
        return reduce(op.Add, parts)
    return op.Concat(*parts, axis=1) if len(parts) > 1 else parts[0]


@paddle.lowers("crop_tensor")
def crop(node: LoweringNode, op: OpBuilder, x: SSAValue, shape: SSAValue, offsets: SSAValue) -> SSAValue:
    """paddle.crop_tensor(x, shape, offsets) -> opset8.Slice(x, offsets, offsets + shape); -1 reaches to the end"""
    rank = node.known_rank(0)
    begins, known = vector_of(op, offsets), node.constant_integers(1)
    if known is not None and len(known) != rank:
        node.fail(f"shape has {len(known)} numbers for {rank} axes")
    if known is not None and -1 in known:
        ends = op.Select(op.constant(np.array(known) == -1), op.constant(_FAR), op.Add(begins, list(known)))
    else:
        ends = op.Add(begins, vector_of(op, shape))
    return op.Slice(x, begins, ends, [1] * rank, list(range(rank)))


@paddle.lowers("set_value")
def set_value(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _starts: SSAValue,
    _ends: SSAValue,
    _steps: SSAValue,
    value: SSAValue | None = None,
    *,
    axes: tuple[int, ...],
    decrease_axes: tuple[int, ...] = (),
    none_axes: tuple[int, ...] = (),
    shape: tuple[int, ...] = (),
) -> SSAValue:
    """paddle.set_value(x, starts, ends, steps, value) {axes} -> opset3.ScatterUpdate(x, indices, value, axis)

    Several axes: the slice is set by opset4.ScatterNDUpdate at the indices of its elements.
    """
    rank = node.known_rank(0)
    wanted = [normalize_axis(axis, rank) for axis in axes]
    if none_axes:
        node.fail("new axes in the slice that is set are not supported")
    value_ = _attribute_value(node, op, x, shape) if value is None else as_type(op, value, element_of(x))
    starts, ends, steps = (_numbers(node, op, index, len(wanted)) for index in (1, 2, 3))
    sizes = op.ShapeOf(x)
    indices = [
        op.Slice(
            op.Range(op.constant(0), op.Gather(sizes, axis, 0), op.constant(1), output_type=si64),
            *(_entry(op, each, index) for each in (starts, ends, steps)),
            [0],
        )
        for index, axis in enumerate(wanted)
    ]
    target = op.Slice(x, starts, ends, steps, wanted)
    missing = sorted({normalize_axis(axis, rank) for axis in decrease_axes})
    if missing and (value_rank := rank_of(value_)) is not None and 0 < value_rank <= rank - len(missing):
        kept = [axis for axis in range(rank) if axis not in missing][rank - len(missing) - value_rank :]
        inserted = [axis - kept[0] for axis in range(kept[0], rank) if axis not in kept]
        value_ = op.Unsqueeze(value_, inserted) if inserted else value_
    updates = op.Broadcast(value_, op.ShapeOf(target))
    if len(wanted) == 1:
        return op.ScatterUpdate(x, indices[0], updates, op.constant(wanted[0]))
    return _set_at(op, x, updates, dict(zip(wanted, indices, strict=True)))


def _entry(op: OpBuilder, numbers: SSAValue | list[int], index: int) -> SSAValue:
    return op.constant([numbers[index]]) if isinstance(numbers, list) else op.Gather(numbers, [index], 0)


def _set_at(op: OpBuilder, x: SSAValue, updates: SSAValue, indices: dict[int, SSAValue]) -> SSAValue:
    """x with `updates` written at all combinations of indices, which are given for several axes."""
    sizes, last = op.ShapeOf(x), max(indices)
    axis_indices = [
        indices[axis] if axis in indices else op.Range(op.constant(0), op.Gather(sizes, axis, 0), op.constant(1), output_type=si64)
        for axis in range(last + 1)
    ]
    full = op.Concat(*(op.ShapeOf(each) for each in axis_indices), axis=0) if len(axis_indices) > 1 else op.ShapeOf(axis_indices[0])
    grids = [
        op.Unsqueeze(op.Broadcast(op.Reshape(each, [-1, *[1] * (last - axis)], special_zero=False), full), [last + 1])
        for axis, each in enumerate(axis_indices)
    ]
    return op["opset4.ScatterNDUpdate"](x, op.Concat(*grids, axis=last + 1), updates)


def _attribute_value(node: LoweringNode, op: OpBuilder, x: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The value to assign, from the node's attributes, reshaped to `shape`.

    Raises ConversionError if its size differs.
    """
    array = attribute_values(node)
    if shape and array.size == math.prod(shape):
        array = array.reshape(tuple(shape))
    elif array.size == 1:
        array = array.reshape(())
    else:
        node.fail(f"{array.size} values do not fit the shape {list(shape)}")
    return op.constant(array.astype(to_numpy(element_of(x))), element_of(x))


_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "edge": "edge"}


def _padded(op: OpBuilder, x: SSAValue, begins: SSAValue, ends: SSAValue, mode: str, value: float) -> SSAValue:
    operands = [x, begins, ends]
    if mode == "constant":
        operands.append(op.constant_like(value, x))
    return op.Pad(*operands, pad_mode=_MODES[mode])


@paddle.lowers("pad3d", "pad2d", complex=by_parts())
def pad_spatial(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    paddings: SSAValue,
    *,
    mode: str = "constant",
    value: float = 0.0,
    pad_value: float = 0.0,
) -> SSAValue:
    """paddle.pad3d(x, [left, right, top, bottom, front, back]) {mode} -> opset12.Pad(x); pad2d begins with the top

    With the mode `circular`, x is repeated at both ends.
    """
    is_plane = node.op.KIND == "pad2d"
    axes, rank = (2, 4) if is_plane else (3, 5)
    is_last = is_channel_last(node)
    spatial = list(range(1, rank - 1)) if is_last else list(range(2, rank))
    known = node.constant_integers(1)
    number = pad_value if is_plane else value
    if known is not None and len(known) != 2 * axes:
        node.fail(f"paddings has {len(known)} entries, not {2 * axes}")
    if mode not in _MODES and mode != "circular":
        node.fail(f"mode {mode!r} does not exist")
    # Pairs are of the last axis first, those of pad2d in the order of the axes.
    order = list(range(axes)) if is_plane else list(range(axes))[::-1]
    if mode == "circular":
        if known is None:
            node.fail("paddings are computed when the model runs, which is not supported with mode circular")
        for axis, pair in zip(spatial, order, strict=True):
            x = _wrapped(op, x, axis, known[2 * pair], known[2 * pair + 1])
        return x
    if known is not None:
        begins, ends = [0] * rank, [0] * rank
        for axis, pair in zip(spatial, order, strict=True):
            begins[axis], ends[axis] = known[2 * pair], known[2 * pair + 1]
        return _padded(op, x, op.constant(begins), op.constant(ends), mode, number)
    pairs = vector_of(op, paddings)
    front, back = ([0], [0, 0][:1]) if is_last else ([0, 0], [])
    sides = [op.Gather(pairs, [2 * pair + side for pair in order], 0) for side in (0, 1)]
    begins_, ends_ = (op.Concat(op.constant(front), each, *([op.constant(back)] if back else []), axis=0) for each in sides)
    return _padded(op, x, begins_, ends_, mode, number)


def _wrapped(op: OpBuilder, x: SSAValue, axis: int, before: int, after: int) -> SSAValue:
    """x extended periodically along an axis: by its last `before` elements in front, and by its first `after` elements
    at the end.
    """
    parts: list[SSAValue] = []
    if before:
        parts.append(op.Slice(x, [-before], [2**31], [1], [axis]))
    parts.append(x)
    if after:
        parts.append(op.Slice(x, [0], [after], [1], [axis]))
    return op.Concat(*parts, axis=axis) if len(parts) > 1 else x


@paddle.lowers("pad", complex=by_parts())
def pad(node: LoweringNode, op: OpBuilder, x: SSAValue, _value: SSAValue | None = None, *, paddings: tuple[int, ...]) -> SSAValue:
    """paddle.pad(x, value) {paddings} -> opset12.Pad(x): pairs for all axes in order"""
    if len(paddings) != 2 * node.known_rank(0):
        node.fail(f"paddings has {len(paddings)} entries for {node.known_rank(0)} axes")
    value = known_number(node, 1, "pad_value", 0.0)
    return _padded(op, x, op.constant(list(paddings[0::2])), op.constant(list(paddings[1::2])), "constant", value)
