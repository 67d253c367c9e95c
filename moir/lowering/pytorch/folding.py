"""Patches of images as columns, and back; pooling by norms, and its inverse.

Source: Im2Col.cpp, Col2Im.cpp and MaxUnpooling.cpp of PyTorch 2.13.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import element_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Size, Sizes, shape_value, size_scalar
from moir.lowering.pytorch.convolution import per_axis
from moir.lowering.pytorch.promotion import as_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


def _window_indices(op: OpBuilder, size: SSAValue, kernel: int, dilation: int, stride: int, count: SSAValue | None = None) -> SSAValue:
    """The indices [kernel, windows] of the elements of all windows along an axis.

    `count` is the number of windows, by default as many as fit into `size`.
    """
    if count is None:
        count = op.Add(op.Divide(op.Subtract(size, dilation * (kernel - 1) + 1), stride), 1)
    starts = op.Multiply(op.Range(op.constant(0), count, op.constant(1), output_type=si64), stride)
    return op.Add(np.arange(kernel)[:, None] * dilation, starts)


@aten.lowers("im2col.default")
def im2col(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    kernel_size: tuple[int, ...],
    dilation: tuple[int, ...] = (1,),
    padding: tuple[int, ...] = (0,),
    stride: tuple[int, ...] = (1,),
) -> SSAValue:
    """aten.im2col.default(x [N, C, H, W]) -> the patches [N, C · kh · kw, windows]"""
    rank = node.known_rank(0)
    x = op.Unsqueeze(self, [0]) if rank == 3 else self
    kernel, spread = per_axis(node, kernel_size, 2, "kernel_size"), per_axis(node, dilation, 2, "dilation", 1)
    pads, steps = per_axis(node, padding, 2, "padding", 0), per_axis(node, stride, 2, "stride", 1)
    if any(pads):
        around = [0, 0, *pads]
        x = op.Pad(x, around, around, as_element(op, element_of(x), 0)[0], pad_mode="constant")
    shape = op.ShapeOf(x)
    counts = op.constant([1])
    for axis in (0, 1):
        size = op.Gather(shape, op.constant(2 + axis), 0)
        windows = op.Add(op.Divide(op.Subtract(size, spread[axis] * (kernel[axis] - 1) + 1), steps[axis]), 1)
        counts = op.Multiply(counts, windows)
        # [N, C, kh, windows, W] -> [N, C, kh, windows, kw, windows]
        x = op.Gather(x, _window_indices(op, size, kernel[axis], spread[axis], steps[axis], windows), 2 + 2 * axis)
    x = op.transposed(x, [0, 1, 2, 4, 3, 5])
    channels = op.Multiply(op.Gather(shape, [1], 0), kernel[0] * kernel[1])
    # The number of windows is computed, not -1, since a batch of 0 would leave it undefined.
    columns = op.Reshape(x, op.Concat(op.Gather(shape, [0], 0), channels, counts, axis=0), special_zero=False)
    return op.Squeeze(columns, [0]) if rank == 3 else columns


@aten.lowers("col2im.default")
def col2im(
    node: LoweringNode,
    op: OpBuilder,
    self: SSAValue,
    *,
    output_size: tuple[int, ...],
    kernel_size: tuple[int, ...],
    dilation: tuple[int, ...] = (1,),
    padding: tuple[int, ...] = (0,),
    stride: tuple[int, ...] = (1,),
) -> SSAValue:
    """aten.col2im.default(x [N, C · kh · kw, windows]) -> opset15.Col2Im(x, output_size, kernel_size)"""
    rank = node.known_rank(0)
    x = op.Unsqueeze(self, [0]) if rank == 2 else self
    pads = per_axis(node, padding, 2, "padding", 0)
    window = padded_window(None, per_axis(node, stride, 2, "stride", 1), pads, pads, per_axis(node, dilation, 2, "dilation", 1))
    sizes = per_axis(node, output_size, 2, "output_size"), per_axis(node, kernel_size, 2, "kernel_size")
    image = op.Col2Im(x, *(op.constant(each) for each in sizes), **window)
    return op.Squeeze(image, [0]) if rank == 2 else image


@aten.lowers("max_unpool2d.default", "max_unpool3d.default")
def max_unpool(node: LoweringNode, op: OpBuilder, self: SSAValue, indices: SSAValue, *, output_size: Sizes) -> SSAValue:
    """aten.max_unpool2d.default(x, indices) {output_size} -> zeros with the elements of x at these indices of each
    channel; `max_unpool3d` likewise
    """
    rank, axes = node.known_rank(0), len(output_size)
    lead = rank - axes
    shape = op.ShapeOf(self)
    flat = op.Concat(op.Slice(shape, [0], [lead], [1], [0]), op.constant([-1]), axis=0)
    total = op.ReduceProd(shape_value(op, output_size, 0), [0], keep_dims=True)
    zeros = op.Broadcast(as_element(op, element_of(self), 0)[0], op.Concat(op.Slice(shape, [0], [lead], [1], [0]), total, axis=0))
    positions = op.Reshape(op.convert(indices, si64), flat, special_zero=False)
    written = op.ScatterElementsUpdate(zeros, positions, op.Reshape(self, flat, special_zero=False), op.constant(lead))
    whole = op.Concat(op.Slice(shape, [0], [lead], [1], [0]), shape_value(op, output_size, 0), axis=0)
    return op.Reshape(written, whole, special_zero=False)


@aten.lowers("affine_grid_generator.default")
def affine_grid(op: OpBuilder, theta: SSAValue, *, size: Sizes, align_corners: bool) -> SSAValue:
    """aten.affine_grid_generator.default(theta [N, 2, 3]) {size} -> the coordinates [N, H, W, 2] of pixels"""
    element, axes = element_of(theta), len(size) - 2
    lines: list[SSAValue] = []
    for each in list(size)[2:][::-1]:
        lines.append(_line(op, each, element_of(theta), align_corners))
    shape = [shape_value(op, [each]) for each in list(size)[2:]]
    whole = op.Concat(*shape, axis=0)
    columns: list[SSAValue] = []
    for index, line in enumerate(lines):
        axis = axes - 1 - index
        spread = op.Reshape(line, [-1 if each == axis else 1 for each in range(axes)], special_zero=False)
        columns.append(op.Unsqueeze(op.Broadcast(spread, whole), [-1]))
    columns.append(op.Unsqueeze(op.Broadcast(op.constant(1.0, element), whole), [-1]))
    base = op.Reshape(op.Concat(*columns, axis=-1), [-1, axes + 1], special_zero=False)
    grid = op.MatMul(base, theta, transpose_b=True)
    return op.Reshape(grid, op.Concat(op.Gather(op.ShapeOf(theta), [0], 0), whole, op.constant([axes]), axis=0), special_zero=False)


def _line(op: OpBuilder, size: Size, element: Attribute, align_corners: bool) -> SSAValue:
    """The coordinates of `size` pixels along an axis: of their centres in a line from -1 to 1, or with `align_corners`
    with the first at -1 and the last at 1.
    """
    count = size_scalar(op, size)
    indices = op.convert(op.Range(op.constant(0), count, op.constant(1), output_type=si64), f32)
    last = op.convert(op.Maximum(op.Subtract(count, 1), 1), f32)
    coordinates = op.Subtract(op.Divide(op.Multiply(indices, 2), last), 1)
    if not align_corners:
        real = op.convert(count, f32)
        coordinates = op.Multiply(coordinates, op.Divide(op.Subtract(real, 1), real))
    return op.convert(coordinates, element)
