"""Slices and padding.

    %y = onnx.Slice(%x, [1], [9], [2], [3])
->  %y = opset8.Slice(%x, [1], [9], [3], [2])
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import element_count, element_of, normalize_axis, rank_of, shape_of
from moir.expansions.constant_forms import unpacked_type
from moir.expansions.shape_values import all_axes, as_scalar, dimension, dimension_list, rank_value
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import of_length
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import as_result
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder, Operand


@onnx.lowers("Slice", rank=as_result)
def slice_attributes(node: LoweringNode, op: OpBuilder, data: SSAValue, *, starts_: tuple[int, ...]) -> SSAValue:
    """onnx.Slice(x) {starts, ends, axes} -> opset8.Slice(x, starts, ends, 1, axes)"""
    starts, ends = (op.constant(node.integers(name), si64) for name in ("starts", "ends"))
    axes = node.integers("axes", range(len(starts_)))
    steps = op.constant([1] * len(axes), si64)
    return op.Slice(data, starts, ends, steps, axes)


@onnx.lowers("DynamicSlice")
@onnx.lowers("Slice", since=10)
def slice_operands(
    node: LoweringNode, op: OpBuilder, data: SSAValue, _starts: SSAValue, _ends: SSAValue, axes: SSAValue | None = None
) -> Replacement:
    """onnx.Slice(x, starts, ends, axes, steps) -> opset8.Slice(x, starts, ends, steps, axes)"""
    return op.Slice(data, *_bounds(node, op), axes)


def _bounds(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The operands starts, ends and steps of a Slice; steps of 1 if the operand is absent."""
    starts, ends, axes, steps = node.operand(1), node.operand(2), node.optional(3), node.optional(4)
    if steps is None:
        counts = [element_count(shape_of(value)) for value in (starts, ends, axes) if value is not None]
        count = next((count for count in counts if count is not None), None)
        one = op.constant_like(1, starts)
        steps = op.Broadcast(one, op.ShapeOf(starts)) if count is None else op.constant([1] * count, element_of(starts))
    return starts, ends, steps


@onnx.lowers("Pad", rank=as_result)
@moves_strings(0)
def pad_attributes(node: LoweringNode, op: OpBuilder, data: SSAValue, *, value: float = 0.0) -> SSAValue:
    """onnx.Pad(x) {pads, mode, value} -> opset12.Pad(x, begin, end, value) {pad_mode}"""
    pads = node.integers("paddings" if node.version < 2 else "pads")
    return padded(node, op, np.array(pads, np.int64), None if value == 0 else op.constant_like(value, data))


@onnx.lowers("com.microsoft.Pad")
@onnx.lowers("Pad", since=11)
@moves_strings(0, 2)
def pad(
    node: LoweringNode,
    op: OpBuilder,
    data: SSAValue,
    pads_: SSAValue,
    constant_value: SSAValue | None = None,
    axes: SSAValue | None = None,
    *,
    mode: str = "constant",
) -> SSAValue:
    """onnx.Pad(x, pads, value, axes) {mode} -> opset12.Pad(x, begin, end, value) {pad_mode}"""
    value = constant_value
    if value is not None and (known := node.known.constant(value)) is not None and known.size == 1 and not known.any():
        value = None
    pads = op.known.lasting(pads_)
    if pads is not None and axes is None:
        return padded(node, op, pads.ravel(), value)
    if pads is not None and (rank := rank_of(data)) is not None and (positions := op.known.integers(axes)) is not None:
        every = np.zeros((2, rank), np.int64)
        if pads.size != 2 * len(positions):
            node.fail(f"{pads.size} pads are given for {len(positions)} axes")
        every[:, [normalize_axis(axis, rank) for axis in positions]] = pads.reshape(2, -1)
        return padded(node, op, every.ravel(), value)
    begin, end = op.Split.parts(2, pads_, 0, num_splits=2)
    if axes is not None:
        rank_list = rank_value(op, data)
        zeros = op.Broadcast(op.constant_like(0, begin), rank_list)
        # opset3.ScatterUpdate has no negative indices.
        known, rank = op.known.integers(axes), rank_of(data)
        if known is not None and rank is not None:
            positions: Operand = [normalize_axis(axis, rank) for axis in known]
        else:
            positions = op.FloorMod(axes, op.convert(rank_list, node.element(3)))
        begin, end = op.ScatterUpdate(zeros, positions, begin, 0), op.ScatterUpdate(zeros, positions, end, 0)
    if mode == "wrap":
        rank, wide = node.known_rank(0), unpacked_type(element_of(data))
        begins, ends = ([op.Gather(op.convert(widths, si64), axis, 0) for axis in range(rank)] for widths in (begin, end))
        return op.convert(wrapped(op, op.convert(data, wide), begins, ends), element_of(data))
    return op.Pad(data, begin, end, pad_value(op, value), pad_mode=pad_mode(node))


@onnx.lowers("CenterCropPad", since=18)
@moves_strings(0)
def center_crop_pad(node: LoweringNode, op: OpBuilder, input_data: SSAValue, shape: SSAValue) -> SSAValue:
    """onnx.CenterCropPad(x, shape) {axes}
    -> opset8.Slice(opset12.Pad(x, begin, end), start, stop, 1, axes), so that the middle of x stays in the middle
    """
    rank = rank_of(input_data)
    if rank is None:
        return _cropped_of_dynamic_rank(node, op)
    axes = [normalize_axis(axis, rank) for axis in node.integers("axes", range(rank))]
    if not axes:
        return input_data
    wanted = op.convert(of_length(op, shape, len(axes)), si64)
    own = (
        op.Concat(*(dimension_list(op, input_data, axis) for axis in axes), axis=0)
        if len(axes) > 1
        else dimension_list(op, input_data, axes[0])
    )
    missing = op.Maximum(op.Subtract(wanted, own), 0)
    surplus = op.Maximum(op.Subtract(own, wanted), 0)
    begin, start = (op.Divide(count, 2) for count in (missing, surplus))
    zeros = op.constant([0] * rank)
    pads = [op.ScatterUpdate(zeros, axes, widths, 0) for widths in (begin, op.Subtract(missing, begin))]
    padded = op.Pad(input_data, *pads, pad_mode="constant")
    return op.Slice(padded, start, op.Add(start, wanted), [1] * len(axes), axes)


def _cropped_of_dynamic_rank(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The result of a CenterCropPad of data of dynamic rank.

    All axes are padded and cropped, those that are not listed by 0.
    """
    data, wanted = node.operand(0), op.convert(node.operand(1), si64)
    own, rank = op.ShapeOf(data), rank_value(op, data)
    if node.has("axes"):
        axes = op.FloorMod(op.constant(list(node.integers("axes"))), rank)
        wanted = op.ScatterUpdate(own, axes, wanted, 0)
    missing, surplus = (op.Maximum(op.Subtract(*pair), 0) for pair in ((wanted, own), (own, wanted)))
    begin, start = (op.Divide(count, 2) for count in (missing, surplus))
    padded = op.Pad(data, begin, op.Subtract(missing, begin), pad_mode="constant")
    return op.Slice(padded, start, op.Add(start, wanted), op.Broadcast(op.constant(1), rank), all_axes(op, data))


PAD_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


def pad_mode(node: LoweringNode) -> str:
    """The mode of the padding by its name in opset12.Pad. Raises ConversionError for an unknown one."""
    mode = node.text("mode", "constant")
    if mode not in PAD_MODES:
        node.fail(f"mode {mode!r} is not one of {', '.join(PAD_MODES)}, wrap")
    return PAD_MODES[mode]


def pad_value(op: OpBuilder, value: SSAValue | None) -> SSAValue | None:
    """The padding value as a scalar; None if it is None."""
    return None if value is None else as_scalar(op, value)


def padded(node: LoweringNode, op: OpBuilder, pads: np.ndarray[tuple[int, ...], np.dtype[np.int64]], value: SSAValue | None) -> SSAValue:
    """Operand 0 padded by the constant numbers `pads` of elements, the begins of all axes first."""
    data = node.operand(0)
    if pads.size % 2:
        node.fail(f"{pads.size} pads are not a pair for each axis")
    if not pads.any():
        return data
    begin, end = pads.reshape(2, -1).tolist()
    if node.text("mode", "constant") == "wrap":
        return op.convert(wrapped(op, op.convert(data, unpacked_type(node.element(0))), begin, end), node.element(0))
    mode = pad_mode(node)
    return op.Pad(data, begin, end, pad_value(op, value if mode == "constant" else None), pad_mode=mode)


def wrapped(op: OpBuilder, data: SSAValue, begin: Sequence[int | SSAValue], end: Sequence[int | SSAValue]) -> SSAValue:
    """Pad data by continuing it periodically; `begin` and `end` have the number of elements for each axis.

    Each padded axis is gathered at the indices -begin … size + end - 1, modulo the size.
    """
    for axis, (before, after) in enumerate(zip(begin, end, strict=True)):
        if before == after == 0:
            continue
        size = dimension(op, data, axis)
        if isinstance(size, int) and isinstance(before, int) and isinstance(after, int):
            positions: Operand = op.constant(np.arange(-before, size + after) % max(size, 1))
        else:
            extent = op.constant(size) if isinstance(size, int) else size
            first = -before if isinstance(before, int) else op.Negative(before)
            positions = op.FloorMod(op.Range(first, op.Add(extent, after), 1, output_type=si64), extent)
        data = op.Gather(data, positions, axis)
    return data
