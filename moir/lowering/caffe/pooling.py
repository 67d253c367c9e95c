"""Pooling over windows, over whole channels, and over pyramids of windows.

Caffe rounds the number of windows up. With padding, a last window that would begin after the data is left out.
Averages divide by the number of elements of the window in the data and its padding, without elements after the
padding.

Source: pooling_layer.cpp and spp_layer.cpp of BVLC Caffe 1.0; `round_mode` and `ceil_mode` are of later versions and
forks.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import f32
from moir.dialects.shapes import shape_of
from moir.expansions.windows import padded_window
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.convolution import by_axis
from moir.lowering.caffe.layer_parameters import LayerParameters, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_LEVELS = 12
"""Largest height of a pyramid, whose last level has 4 ^ height windows."""
METHODS = ("MAX", "AVE", "STOCHASTIC")


class _Windows:
    """The windows of a pooling layer along its two axes; `rounds_up` is whether their number is rounded up."""

    def __init__(self, kernel: Sequence[int], strides: Sequence[int], pads: Sequence[int], rounds_up: bool) -> None:
        self.kernel, self.strides, self.pads, self.rounds_up = kernel, strides, pads, rounds_up

    @property
    def may_end_after(self) -> bool:
        """Whether a last window may begin in the padding at the end."""
        return any(p > k - s for k, s, p in zip(self.kernel, self.strides, self.pads, strict=True))


@caffe.lowers("Pooling")
@with_parameters("pooling_param")
def pooling(node: LoweringNode, op: OpBuilder, x: SSAValue, *, global_pooling: bool = False) -> Replacement:
    """caffe.Pooling(x) {pool = MAX} -> opset14.MaxPool(x), opset14.AvgPool(x); of whole channels: ReduceMax, ReduceMean

    The second result of a maximum is the index of each element in its channel, as a float.
    """
    parameter = parameters(node, "pooling_param")
    method = parameter.choice("pool", METHODS)
    if node.known_rank(0) != 4:
        node.fail(f"its operand has {node.known_rank(0)} dimensions, not 4")
    if global_pooling:
        if node.is_used(1):
            node.fail("indices of the maxima of whole channels are not supported")
        return [_global(op, x, method)]
    windows = _windows(node, parameter)
    if method == "MAX":
        values, indices = _maximum(op, x, windows)
        return [values, op.convert(indices, f32) if node.is_used(1) else None]
    if method == "AVE":
        return [_average(op, x, windows)]
    # In inference, STOCHASTIC pooling is the mean of the elements weighted by themselves.
    return [op.Divide(_average(op, op.Multiply(x, x), windows), op.Add(_average(op, x, windows), 1e-30))]


def _windows(node: LoweringNode, parameter: LayerParameters) -> _Windows:
    kernel = by_axis(node, parameter, "kernel_size", 2, 0, "kernel")
    strides, pads = by_axis(node, parameter, "stride", 2, 1), by_axis(node, parameter, "pad", 2, 0)
    if min(*kernel, *strides) < 1 or min(pads) < 0 or any(pad >= size for pad, size in zip(pads, kernel, strict=True)):
        node.fail(f"kernel {list(kernel)}, strides {list(strides)} and pads {list(pads)} are not a window")
    rounds_up = parameter.choice("round_mode", ("CEIL", "FLOOR")) == "CEIL" and parameter.flag("ceil_mode", True)
    if rounds_up and not any(pads) and any(stride > size for stride, size in zip(strides, kernel, strict=True)):
        shape = shape_of(node.operand(0)) or (-1,) * 4
        if any(size < 0 or (size - k) % s > 0 for size, k, s in zip(shape[2:], kernel, strides, strict=True)):
            node.fail("a stride above the kernel makes Caffe pool over a window without elements")
    return _Windows(kernel, strides, pads, rounds_up)


def _global(op: OpBuilder, x: SSAValue, method: str) -> SSAValue:
    """The pooling of whole channels by `method`: MAX, AVE, or for any other name the sum of squares divided by
    the sum.
    """
    if method == "MAX":
        return op.ReduceMax(x, [2, 3], keep_dims=True)
    if method == "AVE":
        return op.ReduceMean(x, [2, 3], keep_dims=True)
    total = op.ReduceSum(x, [2, 3], keep_dims=True)
    return op.Divide(op.ReduceSum(op.Multiply(x, x), [2, 3], keep_dims=True), op.Add(total, 1e-30))


def _maximum(op: OpBuilder, x: SSAValue, windows: _Windows) -> tuple[SSAValue, SSAValue]:
    """The maxima over windows, and the index of each in its channel."""
    # A last window that would begin after the data is left out.
    rounding = "ceil_torch" if windows.rounds_up else "floor"
    window = padded_window(windows.kernel, windows.strides, windows.pads, windows.pads, [1, 1])
    values, indices = op.MaxPool.parts(2, x, **window, rounding_type=rounding, auto_pad="explicit", axis=2)
    return values, indices


def _average(op: OpBuilder, x: SSAValue, windows: _Windows) -> SSAValue:
    """The averages over windows of padded data, in which the padding counts."""
    padded = op.Pad(x, [0, 0, *windows.pads], [0, 0, *windows.pads], pad_mode="constant") if any(windows.pads) else x
    window = padded_window(windows.kernel, windows.strides, [0, 0], [0, 0])
    rounding = "ceil" if windows.rounds_up else "floor"
    result = op["opset14.AvgPool"](padded, **window, exclude_pad=True, rounding_type=rounding, auto_pad="explicit")
    if not windows.rounds_up or not any(windows.pads) or not windows.may_end_after:
        return result
    # The windows that begin before the end of the data: (size + pad) / stride, rounded up.
    sizes = op.Slice(op.ShapeOf(x), [2], [4], [1])
    reach = op.Add(sizes, [pad + stride - 1 for pad, stride in zip(windows.pads, windows.strides, strict=True)])
    return op.Slice(result, [0, 0], op.Divide(reach, list(windows.strides)), [1, 1], [2, 3])


@caffe.lowers("SPP")
@with_parameters("spp_param")
def spatial_pyramid(node: LoweringNode, op: OpBuilder, x: SSAValue, *, pyramid_height: int) -> SSAValue:
    """caffe.SPP(x) {pyramid_height} -> poolings over 1, 4, 16, … windows, flattened, concatenated along axis 1"""
    parameter = parameters(node, "spp_param")
    method, shape = parameter.choice("pool", METHODS), shape_of(x)
    if shape is None or len(shape) != 4 or min(shape[2:]) < 1:
        node.fail("the size of its operand is dynamic", hint="give the model's inputs static sizes")
    parts: list[SSAValue] = []
    if not 1 <= pyramid_height <= MAXIMUM_LEVELS:
        node.fail(f"pyramid_height is {pyramid_height}, not 1 to {MAXIMUM_LEVELS}")
    for level in range(pyramid_height):
        count = 2**level
        kernel = [-(-size // count) for size in shape[2:]]
        pads = [(k * count - size + 1) // 2 for k, size in zip(kernel, shape[2:], strict=True)]
        windows = _Windows(kernel, kernel, pads, rounds_up=True)
        pooled = _maximum(op, x, windows)[0] if method == "MAX" else _average(op, x, windows)
        parts.append(op.Reshape(pooled, [0, -1], special_zero=True))
    return op.Concat(*parts, axis=1) if len(parts) > 1 else parts[0]
