"""Pooling: over windows, over all spatial axes, and the inverse of maximum pooling."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import f16, f32, si64
from moir.dialects.opset.interfaces.spatial import Window, positions
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of, size_along
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.ranks import as_window
from moir.lowering.onnx.sliding_window import axis_attribute, kernel_shape, sliding_window
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def rounding(node: LoweringNode) -> str:
    """The rounding type of opset14 for the attribute `ceil_mode`.

    With `ceil_mode`, a last window that would start in the padding at the end is left out.
    """
    return "ceil_torch" if node.flag("ceil_mode") else "floor"


@onnx.lowers("MaxPool", rank=as_window)
def max_pool(node: LoweringNode, op: OpBuilder, x: SSAValue, *, storage_order: bool = False) -> Replacement:
    """onnx.MaxPool(x) -> opset14.MaxPool(x) {axis = 0}: both count indices from the start of the whole tensor"""
    kernel = kernel_shape(node)
    window = sliding_window(node, len(kernel))
    values, indices = op.MaxPool.parts(2, x, kernel=kernel, rounding_type=rounding(node), **window.properties())
    if node.is_used(1) and storage_order:
        indices = _column_major(op, x, indices, len(kernel))
    return values, indices


@onnx.lowers("com.microsoft.NhwcMaxPool")
def channel_last_max_pool(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.com.microsoft.NhwcMaxPool(x) -> Transpose(opset14.MaxPool(Transpose(x)))"""
    kernel = kernel_shape(node)
    axes = len(kernel)
    data = op.Transpose(x, [0, axes + 1, *range(1, axes + 1)])
    window = sliding_window(node, axes).properties()
    return op.Transpose(op.MaxPool(data, kernel=kernel, rounding_type=rounding(node), **window), [0, *range(2, axes + 2), 1])


def _column_major(op: OpBuilder, data: SSAValue, indices: SSAValue, axes: int) -> SSAValue:
    """Convert indices from row-major to column-major order of the `axes` spatial axes of data."""
    shape = shape_of(data)
    dimensions = op.ShapeOf(data) if not is_static(shape and shape[2:]) else None

    def size(axis: int) -> SSAValue:
        if dimensions is None:
            assert shape is not None
            return op.constant(shape[axis])
        return op.Gather(dimensions, axis, 0)

    sizes = [size(axis) for axis in range(2, axes + 2)]
    rest = indices
    coordinates: list[SSAValue] = []
    for length in reversed(sizes):
        coordinates.insert(0, op.FloorMod(rest, length))
        rest = op.Divide(rest, length, m_pythondiv=False)
    for coordinate, length in zip(reversed(coordinates), reversed(sizes), strict=True):
        rest = op.Add(op.Multiply(rest, length), coordinate)
    return rest


@onnx.lowers("AveragePool", rank=as_window)
def average_pool(node: LoweringNode, op: OpBuilder, x: SSAValue, *, count_include_pad: bool = False, ceil_mode: bool = False) -> SSAValue:
    """onnx.AveragePool(x) {count_include_pad = 0}
    -> opset14.AvgPool(x) {exclude-pad = true}; with dilations opset16.AvgPool.

    Elements that ceil_mode adds after the padding do not count. If padding counts, opset14.AvgPool does not say whether
    these count, too. In that case the data is padded first; or, if a window would start in that padding, the means are
    divided by the share of elements of each window that count.
    """
    kernel, data = kernel_shape(node), x
    window = sliding_window(node, len(kernel))
    counts_padding = count_include_pad
    if counts_padding and ceil_mode and window.auto_pad == "explicit":
        if not _starts_in_data(node, kernel, window):
            means = _average(op, data, kernel, window, rounding(node), exclude_pad=False)
            known = _known_shares(node, kernel, window)
            shares = _computed_shares(node, op, kernel, window, means) if known is None else op.constant(known, element_of(means))
            return means if known is not None and bool((known == 1).all()) else op.Divide(means, shares)
        data = op.Pad(data, [0, 0, *window.pads_begin], [0, 0, *window.pads_end], pad_mode="constant")
        none = (0,) * len(kernel)
        window, counts_padding = window.with_fields(pads_begin=none, pads_end=none), False
    return _average(op, data, kernel, window, rounding(node), not counts_padding)


def _starts_in_data(node: LoweringNode, kernel: Sequence[int], window: SlidingWindow) -> bool:
    """Whether all windows that `ceil_mode` adds start in the data.

    A window that starts in the padding at the end is dropped.
    """
    shape = node.shape(0)
    for axis, length in enumerate(kernel):
        stride, begin, end = window.strides[axis], window.pads_begin[axis], window.pads_end[axis]
        extent = window.dilations[axis] * (length - 1) + 1
        if not end or stride + end <= extent:
            continue
        size = -1 if shape is None else size_along(shape, axis + 2)
        if size < 0 or size + begin <= -(-(size + begin + end - extent) // stride) * stride < size + begin + end:
            return False
    return True


def _known_shares(node: LoweringNode, kernel: Sequence[int], window: SlidingWindow) -> Array | None:
    """The fraction of each window that lies in the data or its padding, where `ceil_mode` adds windows; None if a size
    is dynamic.
    """
    shape, shares = node.shape(0), np.ones((), np.float32)
    if shape is None or -1 in shape[2:]:
        return None
    for axis, length in enumerate(kernel):
        one = Window(length, window.strides[axis], window.dilations[axis], window.pads_begin[axis], window.pads_end[axis])
        size = size_along(shape, axis + 2)
        starts = np.arange(positions(size, one, "explicit", "ceil_torch")) * one.stride
        indices = starts[:, None] + np.arange(length) * one.dilation
        shares = np.multiply.outer(shares, (indices < size + one.pad_begin + one.pad_end).mean(axis=1, dtype=np.float32))
    return shares[None, None]


def _computed_shares(node: LoweringNode, op: OpBuilder, kernel: Sequence[int], window: SlidingWindow, means: SSAValue) -> SSAValue:
    """The fractions of `_known_shares`, computed from the sizes of the data when the model runs: [1, 1, …]."""
    data, axes = node.operand(0), list(range(2, 2 + len(kernel)))
    spatial = op.Gather(op.ShapeOf(data), axes, 0)
    padded = op.Add(spatial, np.add(window.pads_begin, window.pads_end).astype(np.int64))
    ones = op.Broadcast(op.constant_like(1, data), op.Concat([1, 1], padded, axis=0))
    none = (0,) * len(kernel)
    # With zeros after them, rounding down yields all windows.
    widened = op.Pad(ones, [0] * (len(kernel) + 2), [0, 0, *(stride - 1 for stride in window.strides)], pad_mode="constant")
    shares = _average(op, widened, kernel, window.with_fields(pads_begin=none, pads_end=none), "floor", exclude_pad=False)
    # The means have no windows that start in the padding at the end, so their shares are cut off.
    return op.Slice(shares, [0] * len(kernel), op.Gather(op.ShapeOf(means), axes, 0), [1] * len(kernel), axes)


def _average(
    op: OpBuilder, data: SSAValue, kernel: Sequence[int], window: SlidingWindow, rounding_type: str, exclude_pad: bool
) -> SSAValue:
    properties = window.properties() | {"kernel": kernel, "rounding_type": rounding_type, "exclude_pad": exclude_pad}
    if set(window.dilations) == {1}:
        del properties["dilations"]
        return op["opset14.AvgPool"](data, **properties)
    return op["opset16.AvgPool"](data, **properties)


def spatial_axes_of(op: OpBuilder, data: SSAValue) -> SSAValue:
    """The spatial axes, from 2 on; computed when the model runs if the rank is dynamic."""
    rank = rank_of(data)
    if rank is not None:
        return op.constant(list(range(2, rank)))
    return op.Range(2, op.Squeeze(op.ShapeOf(op.ShapeOf(data))), 1, output_type=si64)


@onnx.lowers("GlobalAveragePool")
def global_average_pool(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.GlobalAveragePool(x) -> opset1.ReduceMean(x, [2, …]) {keep_dims = true}"""
    return op.ReduceMean(x, spatial_axes_of(op, x), keep_dims=True)


@onnx.lowers("GlobalMaxPool")
def global_max_pool(op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.GlobalMaxPool(x) -> opset1.ReduceMax(x, [2, …]) {keep_dims = true}"""
    return op.ReduceMax(x, spatial_axes_of(op, x), keep_dims=True)


def _exponent(node: LoweringNode) -> float:
    """The attribute `p`: an integer, in version 1 a float."""
    exponent = node.number("p", 2.0)
    if exponent <= 0:
        node.fail(f"p is {exponent}")
    return exponent


@onnx.lowers("GlobalLpPool")
def global_lp_pool(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.GlobalLpPool(x) {p = 2}
    -> opset4.ReduceL2(x, [2, …]) {keep_dims = true}; opset4.ReduceL1 for p = 1, else Σ|x|ᵖ to the 1/p.
    """
    exponent = _exponent(node)
    data = _wide(op, x)
    axes = spatial_axes_of(op, data)
    if exponent == 1:
        norm = op.ReduceL1(data, axes, keep_dims=True)
    elif exponent == 2:
        norm = op.ReduceL2(data, axes, keep_dims=True)
    else:
        norm = op.Power(op.ReduceSum(op.Power(op.Abs(data), exponent), axes, keep_dims=True), 1 / exponent)
    return op.convert(norm, element_of(x))


def _wide(op: OpBuilder, data: SSAValue) -> SSAValue:
    """Convert data of f16 to f32, since powers of f16 may overflow although the root of their sum does not."""
    return op.convert(data, f32) if element_of(data) == f16 else data


@onnx.lowers("LpPool")
def lp_pool(node: LoweringNode, op: OpBuilder, x: SSAValue, *, ceil_mode: bool = False) -> SSAValue:
    """onnx.LpPool(x) {p = 2}
    -> opset1.Sqrt(opset1.Multiply(opset14.AvgPool(opset1.Multiply(x, x)), elements of the kernel))
    """
    kernel, exponent = kernel_shape(node), _exponent(node)
    data = _wide(op, x)
    window = sliding_window(node, len(kernel))
    if ceil_mode:
        window = _padded_to_ceil(node, window, kernel)
    powers = op.Abs(data) if exponent == 1 else op.Multiply(data, data) if exponent == 2 else op.Power(op.Abs(data), exponent)
    # Padding consists of zeros, which the mean counts, so the mean times the size of the kernel is the sum.
    sums = op.Multiply(_average(op, powers, kernel, window, "floor", exclude_pad=False), float(prod(kernel)))
    norm = sums if exponent == 1 else op.Sqrt(sums) if exponent == 2 else op.Power(sums, 1 / exponent)
    return op.convert(norm, element_of(x))


def _padded_to_ceil(node: LoweringNode, window: SlidingWindow, kernel: Sequence[int]) -> SlidingWindow:
    """The window with more padding at the end, so that rounding down gives as many positions as rounding up."""
    shape = node.shape(0)
    if window.auto_pad.startswith("same"):
        return window
    ends: list[int] = []
    for axis, length in enumerate(kernel):
        one = Window(length, window.strides[axis], window.dilations[axis], window.pads_begin[axis], window.pads_end[axis])
        size = -1 if shape is None else size_along(shape, axis + 2)
        if size >= 0:
            count = positions(size, one, "explicit", "ceil_torch")
            ends.append(max(one.pad_end, (count - 1) * one.stride + one.extent - size - one.pad_begin))
        else:
            if one.pad_end + one.stride > one.extent:
                node.fail("ceil_mode with a window that may start in the padding", hint="give the model's inputs static shapes")
            ends.append(one.pad_end + one.stride - 1)
    return window.with_fields(pads_end=tuple(ends), auto_pad="explicit")


@onnx.lowers("MaxUnpool")
def max_unpool(node: LoweringNode, op: OpBuilder, x: SSAValue, i: SSAValue, output_shape: SSAValue | None = None) -> SSAValue:
    """onnx.MaxUnpool(x, indices, output_shape)
    -> Pad(Reshape(ScatterElementsUpdate(zeros, flattened indices, flattened x)))

    Indices refer to the elements of the tensor whose shape follows from the attributes; for a larger `output_shape`
    zeros are appended to that tensor.
    """
    kernel = kernel_shape(node)
    axes = len(kernel)
    strides, pads = axis_attribute(node, "strides", axes, 1, lowest=1), axis_attribute(node, "pads", 2 * axes, 0)
    shape = shape_of(x)
    growth = [k - s - b - e for k, s, b, e in zip(kernel, strides, pads[:axes], pads[axes:], strict=True)]
    if shape is not None and len(shape) != axes + 2:
        node.fail(f"x has {len(shape)} dimensions where kernel_shape has {axes} entries")
    if is_static(shape) and shape is not None:
        sizes = [s * d + g for s, d, g in zip(strides, shape[2:], growth, strict=True)]
        if min(sizes) < 0 or prod(shape[:2]) * prod(sizes) > 2**31:
            node.fail(f"its result would have spatial sizes {sizes}")
        result_shape = op.constant([*shape[:2], *sizes])
    else:
        result_shape = op.Add(op.Multiply(op.ShapeOf(x), [1, 1, *strides]), [0, 0, *growth])
    count = op.ReduceProd(result_shape, [0], keep_dims=True)
    zeros = op.Broadcast(op.constant_like(0.0, x), count)
    flat = op.ScatterElementsUpdate(zeros, op.Reshape(i, [-1], special_zero=False), op.Reshape(x, [-1], special_zero=False), 0)
    unpooled = op.Reshape(flat, result_shape, special_zero=False)
    if output_shape is None:
        return unpooled
    missing = op.Subtract(output_shape, result_shape)
    return op.Pad(unpooled, [0] * (axes + 2), missing, op.constant_like(0.0, x), pad_mode="constant")
