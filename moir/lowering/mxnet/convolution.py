"""Convolutions in one to three dimensions, channels first or last.

Source: convolution.cc, deconvolution.cc and deformable_convolution.cc of MXNet 1.9.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import by_axis, channel_first, channel_last, entries, is_channel_last
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder


def _kernel(node: LoweringNode) -> tuple[int, ...]:
    kernel = entries(node, "kernel")
    if not 1 <= len(kernel) <= 3 or min(kernel) < 1:
        node.fail(f"kernel {list(kernel)} is not a kernel of 1 to 3 axes")
    return kernel


def _window(node: LoweringNode, axes: int) -> SlidingWindow:
    strides, dilations = (by_axis(node, name, axes, 1) for name in ("stride", "dilate"))
    pads = by_axis(node, "pad", axes, 0)
    if min(*strides, *dilations) < 1 or min(pads) < 0:
        node.fail(f"strides {list(strides)}, dilations {list(dilations)} and pads {list(pads)} are not a window")
    return SlidingWindow(strides, dilations, pads, pads, "explicit")


def _grouped(node: LoweringNode, op: OpBuilder, weights: SSAValue, group: int) -> SSAValue:
    """Weights [C, …] reshaped to [group, C / group, …].

    Raises ConversionError if their shape is dynamic, or C is not a multiple of the number of groups.
    """
    shape = shape_of(weights)
    if shape is None or min(shape) < 0 or group < 1 or shape[0] % group:
        node.fail(f"the weights cannot be divided into {group} groups")
    return op.Reshape(weights, [group, shape[0] // group, *shape[1:]], special_zero=False)


def _with_bias(node: LoweringNode, op: OpBuilder, result: SSAValue, index: int, axes: int, default: bool) -> SSAValue:
    if node.flag("no_bias", default):
        return result
    return op.Add(result, along_channels(op, node.operand(index), axes))


@mxnet.lowers("Convolution", "Convolution_v1", "_npx_convolution")
def convolution(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """mxnet.Convolution(x, w, b) {num_group = 1} -> opset1.Add(opset1.Convolution(x, w), b as [1, C, 1, 1])

    With groups: opset1.GroupConvolution. With channels last: between Transposes.
    """
    return convolved(node, op)


def convolved(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """The convolution of operand 0 with the weights in operand 1, plus the bias if the node has one, in the node's
    layout.
    """
    axes = len(_kernel(node))
    window, group = _window(node, axes), node.integer("num_group", 1)
    x, weights, is_last = node.operand(0), node.operand(1), is_channel_last(node)
    if is_last:
        x, weights = channel_first(op, x, axes + 2), channel_first(op, weights, axes + 2)
    if group == 1:
        result = op.Convolution(x, weights, **window.properties())
    else:
        result = op.GroupConvolution(x, _grouped(node, op, weights, group), **window.properties())
    result = _with_bias(node, op, result, 2, axes, default=False)
    return channel_last(op, result, axes + 2) if is_last else result


@mxnet.lowers("Deconvolution", "_npx_deconvolution")
def deconvolution(
    node: LoweringNode, op: OpBuilder, x: SSAValue, weights: SSAValue, *, num_group: int = 1, target_shape: tuple[int, ...] = ()
) -> SSAValue:
    """mxnet.Deconvolution(x, w, b) {adj, target_shape} -> opset1.Add(opset1.ConvolutionBackpropData(x, w), b)

    `target_shape` replaces pads and `adj`: an odd number of surplus elements is cut off with one more at the beginning.
    """
    kernel = _kernel(node)
    axes = len(kernel)
    window, padding = _window(node, axes), by_axis(node, "adj", axes, 0)
    is_last = is_channel_last(node)
    if is_last:
        x, weights = channel_first(op, x, axes + 2), channel_first(op, weights, axes + 2)
    target = target_shape
    if any(target):
        shape = shape_of(x)
        if shape is None or min(shape[2:]) < 0:
            node.fail("the padding for target_shape depends on dynamic sizes", hint="give the model's inputs static shapes")
        extents = [
            (size - 1) * s + d * (k - 1) + 1 for size, s, d, k in zip(shape[2:], window.strides, window.dilations, kernel, strict=True)
        ]
        surplus = [extent - wanted for extent, wanted in zip(extents, target, strict=True)]
        if min(surplus) < 0:
            node.fail(f"target_shape {list(target)} is larger than the result without padding, {extents}")
        pads = tuple((each + 1) // 2 for each in surplus)
        padding = tuple(each % 2 for each in surplus)
        window = window.with_fields(pads_begin=pads, pads_end=pads)
    if num_group == 1:
        result = op.ConvolutionBackpropData(x, weights, **window.properties(), output_padding=padding)
    else:
        weights = _grouped(node, op, weights, num_group)
        result = op.GroupConvolutionBackpropData(x, weights, **window.properties(), output_padding=padding)
    result = _with_bias(node, op, result, 2, axes, default=True)
    return channel_last(op, result, axes + 2) if is_last else result


@mxnet.lowers("_contrib_DeformableConvolution", "_contrib_ModulatedDeformableConvolution")
def deformable_convolution(
    node: LoweringNode, op: OpBuilder, x: SSAValue, offset: SSAValue, w: SSAValue, *, num_group: int = 1, num_deformable_group: int = 1
) -> SSAValue:
    """mxnet._contrib_DeformableConvolution(x, offset, w, b)
    -> opset1.Add(opset8.DeformableConvolution(x, offset, w), b)

    The modulated kind has the operand mask after the offsets.
    """
    if len(_kernel(node)) != 2:
        node.fail("the operation sets have deformable convolutions of 2 axes only")
    is_modulated = "Modulated" in node.op.KIND
    operands = [x, offset, node.operand(3), w] if is_modulated else [x, offset, w]
    result = op.DeformableConvolution(
        *operands,
        **_window(node, 2).properties(),
        group=num_group,
        deformable_group=num_deformable_group,
        # Outside of the image the elements at its edge are repeated, in the modulated version zeros follow.
        bilinear_interpolation_pad=is_modulated,
    )
    return _with_bias(node, op, result, 4 if is_modulated else 3, 2, default=False)
