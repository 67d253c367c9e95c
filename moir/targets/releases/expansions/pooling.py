"""Pooling by older versions, which round the number of windows in other ways or have no adaptive windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects import opset
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import shape_of
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion

LARGEST_CELLS = 64
"""The largest number of windows of unequal size along an axis for which each window is computed on its own."""


def average_of_elements(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """AvgPool that counts the elements of each window, with padding up to the end of the last window.

    %y = opset14.AvgPool(%x) {kernel = [3], strides = [2], rounding_type = "ceil"}   // %x: [1, 1, 8]
    ->  %y = opset1.AvgPool(%x) {kernel = [3], strides = [2], pads_end = [1], exclude-pad = true}

    Padding that counts is added by a Pad before, up to the end of the last window: each mean is over a full window.
    None for data with dynamic spatial dimensions.
    """
    counts = _counts(node)
    if counts is None:
        return None
    data, shape = node.operands[0], node.shape(0) or ()
    kernel, strides, begins, ends = (node.integers(name) for name in ("kernel", "strides", "pads_begin", "pads_end"))
    axes = zip(counts, strides, kernel, shape[2:], begins, strict=True)
    needed = [max((count - 1) * stride + window - size - begin, 0) for count, stride, window, size, begin in axes]
    if not node.flag("exclude-pad") and any((*begins, *ends)):
        data = op["opset1.Pad"](data, [0, 0, *begins], [0, 0, *needed], op.constant_like(0.0, data), pad_mode="constant")
        begins = needed = [0] * len(needed)
    return op["opset1.AvgPool"](data, kernel=kernel, strides=strides, pads_begin=begins, pads_end=needed, exclude_pad=True)


def has_partial_windows(node: OpsetOp) -> bool:
    """Whether the last window of a pooling ends behind the data and its padding, or may do so."""
    if node.text("rounding_type") == "floor" or node.text("auto_pad") != "explicit":
        return False
    counts, shape = _counts(node), node.shape(0)
    if counts is None or shape is None:
        return True
    axes = zip(counts, shape[2:], *(node.integers(name) for name in ("kernel", "strides", "pads_begin", "pads_end")), strict=True)
    return any((count - 1) * stride + window > size + begin + end for count, size, window, stride, begin, end in axes)


def max_pool(op: OpBuilder, node: OpsetOp) -> Sequence[SSAValue] | None:
    """MaxPool by an older version; None if no rounding type of that version gives the same number of windows (see
    `_rounding`).
    """
    rounding = _rounding(node)
    if rounding is None:
        return None
    return tuple(op.create(opset.operation("opset8.MaxPool"), list(node.operands), {**node.properties, **rounding}).results)


def _rounding(node: OpsetOp) -> dict[str, object] | None:
    """The properties `rounding_type` and `pads_end` with which an older version has as many windows as `ceil_torch`.

    These are `ceil` if it gives as many for all sizes, else `floor` with padding at the end up to the end of the last
    window. None for another rounding type, and if the sizes of the data are needed and dynamic.
    """
    if node.text("rounding_type") != "ceil_torch" or node.text("auto_pad") != "explicit":
        return None
    strides, begins, ends = (node.integers(name) for name in ("strides", "pads_begin", "pads_end"))
    windows = _extents(node)
    if all(stride + end <= window for stride, end, window in zip(strides, ends, windows, strict=True)):
        return {"rounding_type": "ceil"}
    counts, shape = _counts(node), node.shape(0)
    if counts is None or shape is None:
        return None
    axes = zip(counts, shape[2:], windows, strides, begins, strict=True)
    return {
        "rounding_type": "floor",
        "pads_end": [max((count - 1) * stride + window - size - begin, 0) for count, size, window, stride, begin in axes],
    }


def _extents(node: OpsetOp) -> list[int]:
    """The number of elements that a dilated window spans along each spatial axis."""
    kernel = node.integers("kernel")
    dilations = (node.integers("dilations") if "dilations" in node.properties else ()) or (1,) * len(kernel)
    return [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]


def _counts(node: OpsetOp) -> list[int] | None:
    """The number of windows along each axis, read from the type of the result; None for dynamic spatial dimensions."""
    shape, result = node.shape(0), shape_of(node.results[0])
    if shape is None or result is None or min((*shape[2:], *result[2:])) < 0:
        return None
    return list(result[2:])


def adaptive_average_pool(op: OpBuilder, node: OpsetOp) -> SSAValue | None:
    """Means of the cells along one axis after the other.

    %y = opset8.AdaptiveAvgPool(%x, [4, 5])                                         // %x: [1, 3, 8, 8]
    ->  %0 = opset14.AvgPool(%x) {kernel = [2, 1], strides = [2, 1]}
        %y = opset1.Concat(means of [0, 2), [1, 4), [3, 5), [4, 7), [6, 8) along axis 3)

    None for dynamic sizes, and for more than 64 cells of unequal size.
    """
    data, counts = node.operands[0], constant_of(node.operands[1])
    shape = shape_of(data)
    if shape is None or counts is None or min(shape[2:]) < 1:
        return None
    for axis, count in enumerate(map(int, counts.ravel()), 2):
        size = shape[axis]
        if size % count and count > LARGEST_CELLS:
            return None
        if size % count == 0:
            window = [size // count if each == axis else 1 for each in range(2, len(shape))]
            zeros = [0] * len(window)
            data = op["opset1.AvgPool"](data, kernel=window, strides=window, pads_begin=zeros, pads_end=zeros, exclude_pad=False)
            continue
        cells = [(index * size // count, -(-(index + 1) * size // count)) for index in range(count)]
        parts = [op.ReduceMean(op.Slice(data, [a], [b], [1], [axis]), [axis], keep_dims=True) for a, b in cells]
        data = op.Concat(*parts, axis=axis)
    return data


EXPANSIONS: Mapping[str, Expansion] = {
    "opset14.AvgPool": average_of_elements,
    "opset14.MaxPool": max_pool,
    "opset8.AdaptiveAvgPool": adaptive_average_pool,
}
