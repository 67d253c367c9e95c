"""The correlation of two images, from FlowNet: the similarity of windows of both, for several displacements.

Channel k of the result is, at each position, a mean over the channels and a window around the position: the mean of
the products (or of the absolute differences) of the first image and the second image moved by displacement k.

Source: correlation_layer.cu of FlowNet, and correlation.cc of MXNet 1.9.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.errors import UnsupportedOperationError
from moir.rewriting.builder import OpBuilder

MAXIMUM_DISPLACEMENTS = 4096


class Correlation(NamedTuple):
    """The parameters of a correlation.

    Args:
        kernel: height and width of a window, odd.
        displacement: the largest displacement.
        stride: the distance between neighbouring positions of the result.
        displacement_stride: the distance between neighbouring displacements.
        pad: zeros around both images.
        is_product: whether elements are multiplied; else their absolute differences count.
    """

    kernel: int
    displacement: int
    stride: int
    displacement_stride: int
    pad: int
    is_product: bool


def correlated(op: OpBuilder, a: SSAValue, b: SSAValue, form: Correlation) -> SSAValue:
    """The correlation [N, displacements, rows, columns] of two images [N, C, H, W].

    Raises UnsupportedOperationError for images whose C, H or W is dynamic or too small, and for invalid parameters.
    """
    shape = shape_of(a)
    if shape is None or len(shape) != 4 or not is_static(shape[1:]):
        raise UnsupportedOperationError("the size of its images is unknown", hint="give the model's inputs static sizes")
    if form.kernel < 1 or form.kernel % 2 == 0 or min(form.stride, form.displacement_stride) < 1 or min(form.displacement, form.pad) < 0:
        raise UnsupportedOperationError(f"{form} is not a correlation; the kernel is odd")
    radius = form.displacement // form.displacement_stride
    if (2 * radius + 1) ** 2 > MAXIMUM_DISPLACEMENTS:
        raise UnsupportedOperationError(f"{(2 * radius + 1) ** 2} displacements")
    border = form.displacement + form.kernel // 2
    counts = [-(-(size + 2 * form.pad - 2 * border) // form.stride) for size in shape[2:]]
    if min(counts) < 1:
        raise UnsupportedOperationError(f"images of {shape[2]} x {shape[3]} are too small for it")
    pads = [0, 0, form.pad, form.pad]
    a, b = (op.Pad(value, pads, pads, pad_mode="constant") if form.pad else value for value in (a, b))
    # The extent, along each axis, of the windows around all positions.
    spans = [(count - 1) * form.stride + form.kernel for count in counts]

    def part(value: SSAValue, y: int, x: int) -> SSAValue:
        starts = [form.displacement + y, form.displacement + x]
        return op.Slice(value, starts, [start + span for start, span in zip(starts, spans, strict=True)], [1, 1], [2, 3])

    first, maps = part(a, 0, 0), list[SSAValue]()
    steps = [form.displacement_stride * index for index in range(-radius, radius + 1)]
    for y in steps:
        for x in steps:
            second = part(b, y, x)
            similar = op.Multiply(first, second) if form.is_product else op.Abs(op.Subtract(first, second))
            maps.append(op.ReduceMean(similar, [1], keep_dims=True))
    joined = op.Concat(*maps, axis=1) if len(maps) > 1 else maps[0]
    window = {"kernel": [form.kernel] * 2, "strides": [form.stride] * 2, "pads_begin": [0, 0], "pads_end": [0, 0]}
    if form.kernel == form.stride == 1:
        return joined
    return op["opset14.AvgPool"](joined, **window, exclude_pad=True, rounding_type="floor", auto_pad="explicit")
