"""Lowering of operations that slice, pad or write to slices of tensors to ONNX."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.shapes import rank_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

_LAST = (1 << 63) - 1
"""A stop index after any element; its negative is before any element."""


@opset.lowers("Slice")
def slice_(op: OnnxBuilder, x: SSAValue, start: SSAValue, stop: SSAValue, step: SSAValue, axes: SSAValue | None = None) -> SSAValue:
    """opset8.Slice(x, start, stop, step, axes) -> onnx.Slice(x, start, stop, axes, step)"""
    starts, ends, steps = (op.vector(each) for each in (start, stop, step))
    return op.Slice(x, starts, ends, None if axes is None else op.vector(axes), steps)


def _mask(node: LoweringNode, name: str, length: int) -> list[bool]:
    mask = node.integers(name, ())
    return [bool(each) for each in (*mask, *(0,) * length)][:length]


@opset.lowers("StridedSlice")
def strided_slice(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, _begin: SSAValue, _end: SSAValue, _strides: SSAValue | None = None
) -> SSAValue:
    """opset1.StridedSlice(x, …) -> onnx.Slice with the limits that masks leave, Squeeze of shrunk axes, Unsqueeze of
    new ones
    """
    length = next((shape[0] for shape in (node.shape(1), node.shape(2)) if shape is not None and shape[0] >= 0), None)
    if length is None:
        node.fail("the number of its slices is dynamic")
    strides = node.constant_integers(3) if node.optional(3) is not None else (1,) * length
    if strides is None:
        node.fail("its strides are not constant", hint="use opset8.Slice, whose steps may be computed")
    ellipsis, new, shrink = (_mask(node, f"{name}_mask", length) for name in ("ellipsis", "new_axis", "shrink_axis"))
    # The masks of begin and end are set where the limit counts.
    begin_unused, end_unused = (_mask(node, f"{name}_mask", length) for name in ("begin", "end"))
    entries: list[tuple[int, int]] = []
    axis, new_axes, shrunk = 0, list[int](), list[int]()
    position = 0
    for index in range(length):
        if ellipsis[index]:
            sliced = sum(1 for later in range(index + 1, length) if not new[later])
            skipped = node.known_rank(0) - axis - sliced
            axis += skipped
            position += skipped
        elif new[index]:
            new_axes.append(position)
            position += 1
        else:
            entries.append((index, axis))
            if shrink[index]:
                shrunk.append(axis)
            else:
                position += 1
            axis += 1
    result = x
    if entries:
        chosen = [index for index, _ in entries]
        lows = _limits(node, op, 1, chosen, begin_unused, strides, _LAST)
        highs = _limits(node, op, 2, chosen, [a and not s for a, s in zip(end_unused, shrink, strict=True)], strides, -_LAST)
        if shrunk:
            highs = _after_shrunk(op, lows, highs, [shrink[index] for index in chosen])
        steps = [1 if shrink[index] else strides[index] for index in chosen]
        result = op.Slice(x, lows, highs, [axis for _, axis in entries], steps)
    if shrunk:
        result = op.Squeeze(result, shrunk)
    if new_axes:
        result = op.Unsqueeze(result, new_axes)
    return op.Identity(x) if result is x else result


def _limits(
    node: LoweringNode, op: OnnxBuilder, operand: int, chosen: list[int], unused: list[bool], strides: tuple[int, ...], backwards: int
) -> SSAValue:
    """The begins (operand 1) or ends (operand 2) of those entries of a StridedSlice that slice, `chosen`.

    Args:
        operand: the index of the operand.
        chosen: the indices of the entries.
        unused: for each entry whether a mask replaces it by its default.
        strides: the stride of each entry.
        backwards: the default for a negative stride.
    """
    defaults = [backwards if strides[index] < 0 else (0 if operand == 1 else _LAST) for index in chosen]
    constant = node.constant_integers(operand)
    if constant is not None:
        return op.constant([defaults[place] if unused[index] else constant[index] for place, index in enumerate(chosen)])
    value = op.vector(node.operand(operand))
    if chosen != list(range(len(unused))):
        value = op.Gather(value, chosen, axis=0)
    if any(unused[index] for index in chosen):
        value = op.Where(op.constant(np.array([unused[index] for index in chosen])), defaults, value)
    return value


def _after_shrunk(op: OnnxBuilder, lows: SSAValue, highs: SSAValue, shrink: list[bool]) -> SSAValue:
    """The `ends` of an ONNX Slice: `lows + 1` for axes in the shrink mask, which select one element, else `highs`."""
    following = op.Add(lows, 1)
    # The element after the last one, -1, would be the first one.
    following = op.Where(op.Equal(following, 0), _LAST, following)
    return op.Where(op.constant(np.array(shrink)), following, highs)


_MODES = {"constant": "constant", "edge": "edge", "reflect": "reflect"}


@opset.lowers("Pad")
def pad(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, begin: SSAValue, end: SSAValue, value: SSAValue | None = None, *, pad_mode: str
) -> SSAValue:
    """opset12.Pad(x, begin, end, value) {pad_mode} -> onnx.Pad(x, pads, value) {mode}"""
    if pad_mode == "symmetric":
        return _symmetric(node, op, x)
    pads = op.joined(op.vector(begin), op.vector(end))
    if pad_mode != "constant" or value is None:
        return op.Pad(x, pads, mode=_MODES[pad_mode])
    return op.Pad(x, pads, value if rank_of(value) == 0 else op.Reshape(value, []), mode="constant")


def _symmetric(node: LoweringNode, op: OnnxBuilder, x: SSAValue) -> SSAValue:
    """x padded by its mirror image with the border element repeated: slices are reversed and concatenated axis by
    axis.
    """
    begin, end = node.constant_integers(1), node.constant_integers(2)
    if begin is None or end is None or min(*begin, *end, 0) < 0:
        node.fail("ONNX has no symmetric padding, and its sizes are not constant or negative")
    result = x
    for axis, (before, after) in enumerate(zip(begin, end, strict=True)):
        parts = [result]
        if before:
            parts.insert(0, op.Slice(result, [before - 1], [-_LAST], [axis], [-1]))
        if after:
            parts.append(op.Slice(result, [-1], [-after - 1], [axis], [-1]))
        if len(parts) > 1:
            result = op.Concat(*parts, axis=axis)
    return op.Identity(x) if result is x else result


@opset.lowers("SliceScatter")
def slice_scatter(
    op: OnnxBuilder,
    x: SSAValue,
    updates: SSAValue,
    start: SSAValue,
    stop: SSAValue,
    step: SSAValue,
    axes: SSAValue | None = None,
) -> SSAValue:
    """opset15.SliceScatter(x, updates, …) -> onnx.ScatterElements of flattened x at the indices of the
    slice's elements
    """
    total = op.ReduceProd(op.Shape(x), keepdims=0)
    indices = op.Reshape(op.Range(0, total, 1), op.Shape(x))
    starts, ends, steps = (op.vector(each) for each in (start, stop, step))
    written = op.Reshape(op.Slice(indices, starts, ends, None if axes is None else op.vector(axes), steps), [-1])
    flat = op.ScatterElements(op.Reshape(x, [-1]), written, op.Reshape(updates, [-1]), axis=0)
    return op.Reshape(flat, op.Shape(x))
