"""Windows of images as columns, and correlations of two images.

Source: nn/im2col.h, nn/im2col.cc and correlation-inl.h of MXNet 1.9.
"""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import SSAValue

from moir.expansions.correlation import Correlation, correlated
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import by_axis, entries
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


def _kernel(node: LoweringNode) -> tuple[int, ...]:
    kernel = entries(node, "kernel")
    if len(kernel) != 2 or min(kernel) < 1:
        node.fail(f"kernel {list(kernel)} is not a kernel of two axes")
    return kernel


@mxnet.lowers("im2col")
def im2col(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.im2col(x [N, C, H, W]) {kernel, stride, dilate, pad} -> the windows as columns [N, C · K, windows]

    They are computed by a Convolution of each channel, with a filter for each position that has a single 1.
    """
    kernel = _kernel(node)
    pads, area = by_axis(node, "pad", 2, 0), prod(kernel)
    check_constant_size(area, area)
    shape = op.ShapeOf(x)
    lines = op.Reshape(x, op.Concat(op.constant([-1, 1]), op.Slice(shape, [2], [4], [1]), axis=0), special_zero=False)
    windows = op.Convolution(
        lines,
        op.constant_like(np.eye(area, dtype=np.float32).reshape(area, 1, *kernel), x),
        **padded_window(None, by_axis(node, "stride", 2, 1), pads, pads, by_axis(node, "dilate", 2, 1)),
        auto_pad="explicit",
    )
    channels = op.Multiply(op.Gather(shape, [1], 0), area)
    columns = op.ReduceProd(op.Slice(op.ShapeOf(windows), [2], [4], [1]), [0], keep_dims=True)
    return op.Reshape(windows, op.Concat(op.Gather(shape, [0], 0), channels, columns, axis=0), special_zero=False)


@mxnet.lowers("col2im")
def col2im(node: LoweringNode, op: OpBuilder, x: SSAValue, *, output_size: tuple[int, ...] = ()) -> SSAValue:
    """mxnet.col2im(x [N, C · K, windows]) {output_size, kernel, stride, dilate, pad} -> opset15.Col2Im"""
    kernel, pads = _kernel(node), by_axis(node, "pad", 2, 0)
    window = padded_window(None, by_axis(node, "stride", 2, 1), pads, pads, by_axis(node, "dilate", 2, 1))
    return op.Col2Im(x, op.constant(list(output_size)), op.constant(list(kernel)), **window)


@mxnet.lowers("Correlation")
def correlation(
    op: OpBuilder,
    a: SSAValue,
    b: SSAValue,
    *,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool = True,
) -> SSAValue:
    """mxnet.Correlation(a, b) {kernel_size, max_displacement, …} -> a channel for each displacement"""
    form = Correlation(
        kernel=kernel_size,
        displacement=max_displacement,
        stride=stride1,
        displacement_stride=stride2,
        pad=pad_size,
        is_product=is_multiply,
    )
    return correlated(op, a, b, form)
