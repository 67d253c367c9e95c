"""Pooling over windows, to given sizes, and over all of a channel.

Source: pool_op.cc, pool_with_index_op.cc and pooling.h of PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.shapes import shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.paddle.operands import known_integers
from moir.lowering.paddle.table import paddle
from moir.lowering.paddle.windows import by_axis, channel_first, channel_last, is_channel_last, spatial_axes, window_of
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


def _over_all(op: OpBuilder, x: SSAValue, method: str, axes: int) -> SSAValue:
    spatial = list(range(2, 2 + axes))
    return (op.ReduceMax if method == "max" else op.ReduceMean)(x, spatial, keep_dims=True)


def _sized(op: OpBuilder, x: SSAValue, sizes: Sequence[int], method: str) -> SSAValue:
    """Pool windows that divide the data into `sizes` parts along the spatial axes; a size of -1 keeps the axis.

    `method` is avg or max.
    """
    shape = shape_of(x) or (-1,) * (len(sizes) + 2)
    wanted = [data if size == -1 else size for size, data in zip(sizes, shape[2:], strict=True)]
    target: object = wanted
    if -1 in wanted:
        own = op.Slice(op.ShapeOf(x), [2], [2 + len(sizes)], [1])
        target = op.Select(op.constant(np.array(sizes) == -1), own, op.constant(list(sizes)))
    if method == "avg":
        return op.AdaptiveAvgPool(x, target)
    return op.AdaptiveMaxPool.results(x, target, index_element_type=si32)[0]


def _fitted(x: SSAValue, kernel: Sequence[int], window: SlidingWindow, *, is_ceil: bool) -> SlidingWindow:
    """The window with more padding at the ends where the kernel is larger than the padded data, if `is_ceil`.

    PaddlePaddle then rounds a number of windows below one up, too.
    """
    shape = shape_of(x)
    if not is_ceil or shape is None or window.auto_pad != "explicit":
        return window
    missing = [
        length - size - begin - end if size >= 0 else 0
        for length, size, begin, end in zip(kernel, shape[2:], window.pads_begin, window.pads_end, strict=True)
    ]
    ends = (end + (more if 0 < more < step else 0) for end, more, step in zip(window.pads_end, missing, window.strides, strict=True))
    return window.with_fields(pads_end=tuple(ends))


def _averaged(node: LoweringNode, op: OpBuilder, x: SSAValue, kernel: Sequence[int], window: SlidingWindow, *, is_ceil: bool) -> SSAValue:
    """The means of windows; if the node's attribute `exclusive` is set, padding is not counted."""
    axes = len(kernel)
    properties = {"kernel": kernel, "strides": window.strides, "auto_pad": window.auto_pad}
    rounding = "ceil" if is_ceil else "floor"
    if node.flag("exclusive", True) or (window.auto_pad == "explicit" and not any((*window.pads_begin, *window.pads_end))):
        window = _fitted(x, kernel, window, is_ceil=is_ceil)
        return op["opset14.AvgPool"](
            x, **properties, rounding_type=rounding, pads_begin=window.pads_begin, pads_end=window.pads_end, exclude_pad=True
        )
    if not is_ceil:
        return op["opset14.AvgPool"](
            x, **properties, rounding_type=rounding, pads_begin=window.pads_begin, pads_end=window.pads_end, exclude_pad=False
        )
    # A window that is rounded up counts the padding, but nothing after it.
    padded = op.Pad(x, [0, 0, *window.pads_begin], [0, 0, *window.pads_end], pad_mode="constant")
    none = (0,) * axes
    return op["opset14.AvgPool"](padded, **properties, rounding_type=rounding, pads_begin=none, pads_end=none, exclude_pad=True)


@paddle.lowers("pool2d", "pool3d")
def pooling(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    _ksize: SSAValue | None = None,
    *,
    pooling_type: str,
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    global_pooling: bool = False,
    adaptive: bool = False,
    ceil_mode: bool = False,
    padding_algorithm: str = "EXPLICIT",
) -> SSAValue:
    """paddle.pool2d(x, ksize) {pooling_type = "max"} -> opset14.MaxPool(x), opset14.AvgPool(x); `pool3d` likewise

    A window of all of a channel becomes a reduction. With `adaptive`, `ksize` is the size of the result.
    """
    if pooling_type not in ("max", "avg"):
        node.fail(f"pooling_type {pooling_type!r} does not exist")
    axes, is_last = spatial_axes(node), is_channel_last(node)
    x = channel_first(op, x, axes + 2) if is_last else x
    kernel = (1,) * axes if global_pooling else by_axis(node, "ksize", known_integers(node, 1, "ksize"), axes)
    if global_pooling or (adaptive and set(kernel) == {1}):
        result = _over_all(op, x, pooling_type, axes)
    elif adaptive:
        result = _sized(op, x, kernel, pooling_type)
    else:
        if min(kernel) < 1:
            node.fail(f"ksize {list(kernel)} is not a window")
        window = window_of(node, axes, strides, paddings, (1,) * axes, padding_algorithm, is_last=is_last)
        if pooling_type == "max":
            window = _fitted(x, kernel, window, is_ceil=ceil_mode)
            result = op.MaxPool(x, kernel=kernel, rounding_type="ceil" if ceil_mode else "floor", **window.properties())
        else:
            result = _averaged(node, op, x, kernel, window, is_ceil=ceil_mode)
    return channel_last(op, result, axes + 2) if is_last else result


@paddle.lowers("max_pool2d_with_index", "max_pool3d_with_index")
def max_pooling_with_index(
    node: LoweringNode,
    op: OpBuilder,
    x: SSAValue,
    *,
    ksize: tuple[int, ...],
    strides: tuple[int, ...] = (1, 1),
    paddings: tuple[int, ...] = (0, 0),
    global_pooling: bool = False,
    adaptive: bool = False,
    ceil_mode: bool = False,
) -> Replacement:
    """paddle.max_pool2d_with_index(x) -> opset14.MaxPool(x) {axis = 2}: indices count in a channel"""
    axes = spatial_axes(node)
    if global_pooling:
        shape = shape_of(x)
        if not node.is_used(1):
            return [_over_all(op, x, "max", axes), None]
        if shape is None or min(shape[2:]) < 0:
            node.fail("indices of a pooling over dynamic sizes are not supported", hint="give the model's inputs static shapes")
        ksize, paddings = tuple(shape[2:]), (0,) * axes
    elif adaptive:
        values, indices = op.AdaptiveMaxPool.results(x, op.constant(list(by_axis(node, "ksize", ksize, axes))), index_element_type=si32)
        return [values, indices]
    kernel = by_axis(node, "ksize", ksize, axes)
    window = window_of(node, axes, strides, paddings, (1,) * axes, "EXPLICIT", is_last=False)
    window = _fitted(x, kernel, window, is_ceil=ceil_mode)
    rounding = "ceil" if ceil_mode else "floor"
    values, indices = op.MaxPool.parts(2, x, kernel=kernel, rounding_type=rounding, axis=2, index_element_type=si32, **window.properties())
    return [values, indices]


@paddle.lowers("unpool", "unpool3d")
def unpooling(node: LoweringNode, op: OpBuilder, x: SSAValue, indices: SSAValue, _size: SSAValue) -> SSAValue:
    """paddle.unpool(x, indices, output_size) -> opset12.ScatterElementsUpdate of zeros: x at indices of each channel"""
    axes = spatial_axes(node)
    sizes = known_integers(node, 2, "output_size")
    if node.text("data_format", "NCHW") not in ("NCHW", "NCDHW") or len(sizes) < axes or min(sizes) < 1:
        node.fail(f"output_size {list(sizes)} with data_format {node.text('data_format', 'NCHW')!r} is not supported")
    lead = op.Slice(op.ShapeOf(x), [0], [2], [1])
    data, indices_ = (op.Reshape(each, [0, 0, -1], special_zero=True) for each in (x, indices))
    zeros = op.Broadcast(op.constant_like(0, x), op.Concat(lead, op.constant([int(np.prod(sizes[-axes:]))]), axis=0))
    filled = op["opset12.ScatterElementsUpdate"](zeros, indices_, data, 2)
    return op.Reshape(filled, [0, 0, *sizes[-axes:]], special_zero=True)
