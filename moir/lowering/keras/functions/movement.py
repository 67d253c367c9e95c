"""Shapes, permutations, repetition, padding, segments, triangles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import bf16, boolean, f32, si32, si64, to_numpy
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.number_ranges import range_counted_in_type
from moir.expansions.repetition import repeated
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.keras.attributes import Arguments, axis_list, element_named, is_tensor, numbers_of
from moir.lowering.keras.functions.elementwise import single
from moir.lowering.keras.functions.indexing import LAST
from moir.lowering.keras.functions.reduction import WIDER
from moir.lowering.keras.promotion import operands
from moir.lowering.keras.table import keras
from moir.rewriting.builder import OpBuilder, Operand


@keras.lowers("ops.Reshape")
def reshape(node: LoweringNode, op: OpBuilder, *, newshape: object | None = None) -> SSAValue:
    """keras.ops.Reshape(x) {newshape} -> opset1.Reshape(x, newshape), in which None stands for the batch"""
    arguments = Arguments(node, "x", "newshape")
    return op.Reshape(
        arguments.tensor("x"), sizes(node, op, arguments.get("newshape", newshape), arguments.tensor("x")), special_zero=False
    )


def sizes(node: LoweringNode, op: OpBuilder, value: object, x: SSAValue | None = None) -> Operand:
    """A 1-D tensor of the sizes in `value`, each of which is a number, a computed value, or None for the size of x
    along that axis.

    Raises ConversionError for anything else.
    """
    entries: list[Any] = [value] if isinstance(value, int | SSAValue) else list(cast("Sequence[Any]", value or ()))
    if all(isinstance(each, int) for each in entries):
        return op.constant([int(each) for each in entries], si64)
    parts: list[Operand] = []
    unknown = [index for index, each in enumerate(entries) if each is None]
    for index, each in enumerate(entries):
        if each is None and x is not None and len(unknown) == 1 and -1 not in entries:
            parts.append(op.constant([-1]))
        elif each is None and x is not None:
            parts.append(dimension_list(op, x, index))
        elif is_tensor(each):
            flat = op.convert(each, si64)
            parts.append(op.Reshape(flat, [1], special_zero=False) if rank_of(flat) == 0 else flat)
        elif isinstance(each, int):
            parts.append(op.constant([each]))
        else:
            node.fail(f"{value!r} is not a list of sizes")
    return op.Concat(*parts, axis=0)


@keras.lowers("ops.Diff")
def differences(node: LoweringNode, op: OpBuilder, *, n: int = 1, axis: int = -1) -> SSAValue:
    """keras.ops.Diff(x) {n, axis} -> opset8.Slice(x, 1, …) - opset8.Slice(x, …, -1), n times"""
    x = single(node)
    axis_ = axis_list(node, axis, node.known_rank(0))[0]
    for _ in range(n):
        parts = [op.Slice(x, [start], [end], [1], [axis_]) for start, end in ((1, LAST), (0, -1))]
        x = op.NotEqual(*parts) if element_of(x) == boolean else op.Subtract(*parts)
    return x


def diagonal_indices(node: LoweringNode, op: OpBuilder, x: SSAValue, axes: Sequence[int], offset: int) -> SSAValue:
    """The indices [n, 2] of diagonal `offset` of the matrices whose rows and columns are two axes of x.

    Raises ConversionError if the diagonal has no elements.
    """
    rows, columns = ((shape_of(x) or ())[each] for each in axes)
    first = [max(0, -offset), max(0, offset)]
    if min(rows, columns) >= 0:
        line = np.arange(min(rows - first[0], columns - first[1]))
        if not line.size:
            node.fail(f"its matrices of {rows} rows have no diagonal {offset}")
        return op.constant(np.stack([line + first[0], line + first[1]], axis=-1))
    lengths = [op.Subtract(op.Squeeze(dimension_list(op, x, axis), [0]), start) for axis, start in zip(axes, first, strict=True)]
    positions = op.Range(op.constant(0), op.Maximum(op.Minimum(*lengths), 0), op.constant(1), output_type=si64)
    return op.Add(op.Unsqueeze(positions, [1]), first)


@keras.lowers("ops.Diagonal", "ops.Trace")
def diagonal(node: LoweringNode, op: OpBuilder, *, offset: int = 0, axis1: int = 0, axis2: int = 1) -> SSAValue:
    """keras.ops.Diagonal(x) {offset, axis1, axis2} -> opset8.GatherND at the indices (i, i + offset)

    The diagonal becomes the last axis; Trace is its sum.
    """
    x, rank = single(node), node.known_rank(0)
    axes = [axis_list(node, each, rank)[0] for each in (axis1, axis2)]
    if axes[0] == axes[1]:
        node.fail(f"its axes {axis1} and {axis2} are one")
    others = [each for each in range(rank) if each not in axes]
    diagonal_ = op.GatherND(op.transposed(x, [*axes, *others]), diagonal_indices(node, op, x, axes, offset), batch_dims=0)
    if node.op.KIND == "ops.Trace":
        return op.ReduceSum(op.convert(diagonal_, WIDER.get(element_of(diagonal_), element_of(diagonal_))), [0], keep_dims=False)
    return op.transposed(diagonal_, [*range(1, rank - 1), 0])


REDUCTIONS = {"Max": "max", "Min": "min", "Prod": "prod", "Sum": "sum"}


def _neutral(x: SSAValue, reduction: str) -> float | int:
    """The result of a segment reduction for an empty segment: 0, or the lowest or highest number of x's type for maxima
    and minima.
    """
    if reduction in ("sum", "prod"):
        return int(reduction == "prod")
    storage = to_numpy(element_of(x))
    limits = np.iinfo(storage) if storage.kind in "iu" else np.finfo(np.float32 if element_of(x) == bf16 else storage)
    return limits.min if reduction == "max" else limits.max


@keras.lowers("ops.SegmentSum", "ops.SegmentMax", "ops.SegmentMin", "ops.SegmentProd")
def segments(node: LoweringNode, op: OpBuilder, *, num_segments: int | None = None) -> SSAValue:
    """keras.ops.SegmentSum(x, i) {num_segments} -> opset15.ScatterNDUpdate(zeros, i, x) {reduction = "sum"}

    Likewise SegmentMax, SegmentMin and SegmentProd.
    """
    reduction = REDUCTIONS[node.op.KIND.removeprefix("ops.Segment")]
    arguments = Arguments(node, "data", "segment_ids")
    x, segment_ids_ = arguments.tensor("data"), arguments.tensor("segment_ids")
    if num_segments is None or num_segments < 1:
        node.fail("the number of its segments depends on the numbers", hint="give num_segments")
    rank = rank_of(x) or 1
    # Elements of no segment go to an additional one, which is cut off.
    segment_ids_ = op.convert(segment_ids_, si64)
    inside = op.LogicalAnd(op.GreaterEqual(segment_ids_, 0), op.Less(segment_ids_, num_segments))
    segment_ids_ = op.Select(inside, segment_ids_, op.constant(num_segments, si64))
    sizes = [op.constant([num_segments + 1]), *(dimension_list(op, x, each) for each in range(1, rank))]
    empty = op.Broadcast(op.constant_like(_neutral(x, reduction), x), op.Concat(*sizes, axis=0) if rank > 1 else sizes[0])
    reduced = op.ScatterNDUpdate(empty, op.Unsqueeze(segment_ids_, [-1]), x, reduction=reduction)
    return op.Slice(reduced, [0], [num_segments], [1], [0])


@keras.lowers("ops.Shape")
def tf_shape(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Shape(x) -> opset3.ShapeOf(x) in 32 bits: `tf.shape` of Keras 2"""
    return op.convert(op.ShapeOf(single(node)), si32)


@keras.lowers("ops.Ravel")
def ravel(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """keras.ops.Ravel(x) -> opset1.Reshape(x, [-1])"""
    return op.Reshape(single(node), [-1], special_zero=False)


@keras.lowers("ops.ExpandDims")
def expand_dims(node: LoweringNode, op: OpBuilder, *, axis: object) -> SSAValue:
    """keras.ops.ExpandDims(x) {axis} -> opset1.Unsqueeze(x, axis)"""
    entries = [axis] if isinstance(axis, int) else list(cast("Sequence[int]", axis))
    return op.Unsqueeze(single(node), entries)


@keras.lowers("ops.Squeeze")
def squeeze(node: LoweringNode, op: OpBuilder, *, axis: object | None = None) -> SSAValue:
    """keras.ops.Squeeze(x) {axis} -> opset1.Squeeze(x, axis)"""
    x = single(node)
    if axis is None:
        axes = [index for index, size in enumerate(shape_of(x) or ()) if size == 1]
        return op.Squeeze(x, axes) if axes else x
    return op.Squeeze(x, axis_list(node, axis, node.known_rank(0)))


@keras.lowers("ops.Transpose", "ops.Swapaxes", "ops.Moveaxis", "ops.Flip", "ops.Fliplr", "ops.Flipud", "ops.Rot90")
def permuted(
    node: LoweringNode,
    op: OpBuilder,
    *,
    axes: object | None = None,
    axis: object | None = None,
    axis1: int = 0,
    axis2: int = 1,
    source: object | None = None,
    destination: object | None = None,
    k: int = 1,
) -> SSAValue:
    """keras.ops.Transpose(x) {axes} -> opset1.Transpose(x, axes); likewise Swapaxes, Moveaxis, the flips and Rot90"""
    x, rank = Arguments(node, "x").positional[0], node.known_rank(0)
    order = list(range(rank))
    match node.op.KIND:
        case "ops.Transpose":
            order = order[::-1] if axes is None else axis_list(node, axes, rank)
        case "ops.Swapaxes":
            first, second = axis_list(node, (axis1, axis2), rank)
            order[first], order[second] = second, first
        case "ops.Moveaxis":
            order = _moved(axis_list(node, source, rank), axis_list(node, destination, rank), rank)
        case "ops.Rot90":
            return _turned(op, x, axis_list(node, axes or (0, 1), rank), k % 4)
        case kind:
            flipped = {"ops.Fliplr": [1], "ops.Flipud": [0]}.get(kind) or axis_list(node, axis, rank)
            return reversed_along(op, x, flipped)
    if sorted(order) != list(range(rank)):
        node.fail(f"axes {order} do not list each of the {rank} dimensions once")
    return op.transposed(x, order)


def _moved(sources: list[int], destinations: list[int], rank: int) -> list[int]:
    order = [axis for axis in range(rank) if axis not in sources]
    for destination, source in sorted(zip(destinations, sources, strict=True)):
        order.insert(destination, source)
    return order


def _turned(op: OpBuilder, x: SSAValue, axes: list[int], turns: int) -> SSAValue:
    rank = rank_of(x) or 2
    order = list(range(rank))
    order[axes[0]], order[axes[1]] = axes[1], axes[0]
    if turns == 2:
        return reversed_along(op, x, axes)
    if turns == 1:
        return op.transposed(reversed_along(op, x, [axes[1]]), order)
    return reversed_along(op, op.transposed(x, order), [axes[1]]) if turns == 3 else x


def reversed_along(op: OpBuilder, x: SSAValue, axes: Sequence[int]) -> SSAValue:
    """A tensor reversed along axes."""
    count = len(axes)
    return op.Slice(x, [-1] * count, [-(2**31)] * count, [-1] * count, list(axes)) if axes else x


@keras.lowers("ops.Tile")
def tile(node: LoweringNode, op: OpBuilder, *, repeats: object) -> SSAValue:
    """keras.ops.Tile(x) {repeats} -> opset1.Tile(x, repeats)"""
    return op.Tile(single(node), sizes(node, op, repeats))


@keras.lowers("ops.Repeat")
def repeat(node: LoweringNode, op: OpBuilder, *, repeats: object, axis: int | None = None) -> SSAValue:
    """keras.ops.Repeat(x) {repeats, axis} -> opset8.Gather(x, each index, repeated)"""
    x, rank = single(node), node.known_rank(0)
    data = op.Reshape(x, [-1], special_zero=False) if axis is None else x
    axis_ = 0 if axis is None else axis_list(node, axis, rank)[0]
    size = (shape_of(data) or ())[axis_]
    counts = [repeats] if isinstance(repeats, int) else list(cast("Sequence[int]", repeats))
    if size >= 0:
        order = np.repeat(np.arange(size), counts[0] if len(counts) == 1 else counts)
        return op.Gather(data, op.constant(order.astype(np.int64)), axis_)
    if len(counts) != 1:
        node.fail("the size of its axis is dynamic")
    wide = repeated(op, op.Unsqueeze(data, [axis_ + 1]), axis_ + 1, op.constant(counts[0]))
    kept = [dimension_list(op, data, each) for each in range(rank_of(data) or 1)]
    kept[axis_] = op.constant([-1])
    return op.Reshape(wide, op.Concat(*kept, axis=0) if len(kept) > 1 else kept[0], special_zero=False)


@keras.lowers("ops.BroadcastTo")
def broadcast_to(node: LoweringNode, op: OpBuilder, *, shape: object) -> SSAValue:
    """keras.ops.BroadcastTo(x) {shape} -> opset3.Broadcast(x, shape); None is a size of x"""
    x = single(node)
    entries = list(cast("Sequence[Any]", shape))
    offset = len(entries) - node.known_rank(0)
    parts = [dimension_list(op, x, index - offset) if each is None else op.constant([each]) for index, each in enumerate(entries)]
    return op.Broadcast(x, op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0] if parts else op.constant([]))


@keras.lowers("ops.Roll")
def roll(node: LoweringNode, op: OpBuilder, *, shift: object, axis: object | None = None) -> SSAValue:
    """keras.ops.Roll(x) {shift, axis} -> opset7.Roll(x, shift, axis)"""
    x = single(node)
    shifts = [shift] if isinstance(shift, int) else list(cast("Sequence[int]", shift))
    if axis is None:
        return op.Reshape(op.Roll(op.Reshape(x, [-1], special_zero=False), shifts, [0]), op.ShapeOf(x), special_zero=False)
    axes = axis_list(node, axis, node.known_rank(0))
    return op.Roll(x, shifts * len(axes) if len(shifts) == 1 else shifts, axes)


_PAD_MODES = {"constant": "constant", "reflect": "reflect", "symmetric": "symmetric", "edge": "edge"}


@keras.lowers("ops.Pad")
def pad(node: LoweringNode, op: OpBuilder, *, pad_width: object, mode: str = "constant") -> SSAValue:
    """keras.ops.Pad(x) {pad_width, mode} -> opset12.Pad(x)"""
    x, rank = single(node), node.known_rank(0)
    pad_value = Arguments(node, "x", "constant_values").get("constant_values", 0)
    widths = np.broadcast_to(np.asarray(pad_width), (rank, 2))
    if mode not in _PAD_MODES:
        node.fail(f"the mode {mode!r} does not exist")
    value = operands(op, x, pad_value)[1] if mode == "constant" else None
    if value is not None and element_of(value) != element_of(x):
        value = op.convert(value, element_of(x))
    return op.Pad(x, widths[:, 0].tolist(), widths[:, 1].tolist(), value, pad_mode=_PAD_MODES[mode])


@keras.lowers("ops.OneHot", "ops.MultiHot")
def one_hot(node: LoweringNode, op: OpBuilder, *, num_classes: int, axis: int = -1, dtype: str | None = None) -> SSAValue:
    """keras.ops.OneHot(i) {num_classes, axis} -> opset1.OneHot(i); MultiHot: its maximum along the second dimension"""
    arguments = Arguments(node, "x")
    x = arguments.tensor("x" if arguments.positional else "inputs")
    encoded = op.OneHot(op.convert(x, si32), num_classes, op.constant(1.0), op.constant(0.0), axis=axis)
    if node.op.KIND == "ops.MultiHot":
        # Keras reduces the second dimension, whatever the rank.
        encoded = op.ReduceMax(encoded, [min(1, node.known_rank(0) - 1)], keep_dims=False)
    return op.convert(encoded, f32 if dtype is None else element_named(node, dtype))


@keras.lowers("ops.ZerosLike", "ops.OnesLike", "ops.FullLike", "ops.EmptyLike")
def filled_like(node: LoweringNode, op: OpBuilder, *, dtype: str | None = None) -> SSAValue:
    """keras.ops.ZerosLike(x) -> opset3.Broadcast(0, opset3.ShapeOf(x)); likewise OnesLike, FullLike and EmptyLike"""
    arguments = Arguments(node, "x", "fill_value")
    x = arguments.tensor("x")
    number = {"ops.OnesLike": 1, "ops.FullLike": arguments.get("fill_value", 0)}.get(node.op.KIND, 0)
    element = element_of(x) if dtype is None else element_named(node, dtype)
    value = op.convert(number, element) if is_tensor(number) else op.constant(numbers_of(number), element)
    return op.Broadcast(value, op.ShapeOf(x))


@keras.lowers("ops.Tril", "ops.Triu")
def triangle(node: LoweringNode, op: OpBuilder, *, k: int = 0) -> SSAValue:
    """keras.ops.Tril(x) {k} -> x where the row is at or below the diagonal, else 0; likewise Triu, at or above it"""
    x = single(node)
    rows, columns = (op.Squeeze(dimension_list(op, x, axis), [0]) for axis in (-2, -1))
    row = op.Unsqueeze(op.Range(op.constant(0), rows, op.constant(1), output_type=si64), [1])
    column = op.Subtract(op.Range(op.constant(0), columns, op.constant(1), output_type=si64), k)
    inside = op.GreaterEqual(row, column) if node.op.KIND == "ops.Tril" else op.LessEqual(row, column)
    return op.Select(inside, x, op.constant_like(0, x))


@keras.lowers("ops.Arange")
def arange(node: LoweringNode, op: OpBuilder, *, dtype: str | None = None) -> SSAValue:
    """keras.ops.Arange(start, stop, step) -> opset4.Range"""
    arguments = Arguments(node, "start", "stop", "step")
    start, stop, step = arguments.get("start", 0), arguments.get("stop"), arguments.get("step", 1)
    if stop is None:
        start, stop = 0, start
    first, end, stride = operands(op, start, stop, step)
    return range_counted_in_type(op, first, end, stride, element_of(first) if dtype is None else element_named(node, dtype))
