"""Convolutions: Convolution, Deconvolution, and the names that forks give to their special cases.

Source: base_conv_layer.cpp of BVLC Caffe 1.0.
"""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.caffe.layer_parameters import LayerParameters, blob, blob_count, bottoms, parameters, with_parameters
from moir.lowering.caffe.table import caffe
from moir.rewriting.builder import OpBuilder


def by_axis(
    node: LoweringNode, parameter: LayerParameters, name: str, axes: int, default: int, sides: str | None = None
) -> tuple[int, ...]:
    """A parameter with one value for each of `axes` spatial axes.

    The layer gives it as `name`, with a value for each axis or one value for all, or for two axes as `sides`_h and
    `sides`_w; `default` if it gives none. Raises ConversionError for another number of values.
    """
    sides = sides or name
    pair = [parameter.integers(f"{sides}_{side}") for side in "hw"]
    if any(pair):
        if axes != 2:
            node.fail(f"{sides}_h and {sides}_w are given for {axes} spatial axes")
        return tuple(each[-1] if each else default for each in pair)
    values = parameter.integers(name) or [default]
    if len(values) not in (1, axes):
        node.fail(f"{name} has {len(values)} entries for {axes} spatial axes")
    return tuple(values * axes if len(values) == 1 else values)


def _window(node: LoweringNode, parameter: LayerParameters, axes: int) -> tuple[tuple[int, ...], SlidingWindow]:
    """The spatial sizes of the kernel, and the sliding window. Raises ConversionError for sizes or strides below 1."""
    kernel = by_axis(node, parameter, "kernel_size", axes, 0, "kernel")
    pads = by_axis(node, parameter, "pad", axes, 0)
    strides, dilations = (by_axis(node, parameter, name, axes, 1) for name in ("stride", "dilation"))
    if min(*kernel, *strides, *dilations) < 1 or min(pads) < 0:
        node.fail(f"kernel {list(kernel)}, strides {list(strides)}, dilations {list(dilations)} and pads {list(pads)} are not a window")
    return kernel, SlidingWindow(strides, dilations, pads, pads, "explicit")


def _spatial_axes(node: LoweringNode, parameter: LayerParameters) -> int:
    rank = node.rank(0)
    if parameter.integer("axis", 1) not in (1, 1 - (rank or 0)):
        node.fail(f"the channels are along axis {parameter.integer('axis')}, the operation sets have them along axis 1")
    axes = (blob(node, 0).ndim if rank is None else rank) - 2
    if not 1 <= axes <= 3:
        node.fail(f"it has {axes} spatial axes, the operation sets have 1 to 3")
    return axes


def _with_bias(node: LoweringNode, op: OpBuilder, result: SSAValue, parameter: LayerParameters, channels: int, axes: int) -> SSAValue:
    """The result of a convolution plus the bias, which is the second weight; the result itself if the layer has no
    bias.

    `axes` is the number of spatial axes.
    """
    if not parameter.flag("bias_term", True):
        return result
    return op.Add(result, op.constant(blob(node, 1, (1, channels, *[1] * axes))))


@caffe.lowers("Convolution", "DilatedConvolution", "ConvolutionDepthwise", "DepthwiseConvolution")
@with_parameters("convolution_param")
def convolution(node: LoweringNode, op: OpBuilder, *, num_output: int, group: int = 1) -> list[SSAValue]:
    """caffe.Convolution(x, w, b) -> opset1.Add(opset1.Convolution(x, w), b as [1, C, 1, 1])

    With groups: opset1.GroupConvolution(x, w as [group, C_out / group, C_in / group, kernel]). A layer with several
    bottoms works on each of them.
    """
    parameter = parameters(node, "convolution_param")
    axes = _spatial_axes(node, parameter)
    kernel, window = _window(node, parameter, axes)
    is_depthwise = "Depthwise" in node.op.KIND
    group = num_output if is_depthwise and not parameter.has("group") else group
    if group < 1 or num_output < 1 or num_output % group:
        node.fail(f"{num_output} filters cannot be divided into {group} groups")
    filters = op.constant(blob(node, 0, (num_output, -1, *kernel) if group == 1 else (group, num_output // group, -1, *kernel)))
    build = op.Convolution if group == 1 else op.GroupConvolution
    return [_with_bias(node, op, build(x, filters, **window.properties()), parameter, num_output, axes) for x in bottoms(node)]


@caffe.lowers("Deconvolution")
@with_parameters("convolution_param")
def deconvolution(node: LoweringNode, op: OpBuilder, *, num_output: int, group: int = 1) -> list[SSAValue]:
    """caffe.Deconvolution(x, w, b) -> opset1.Add(opset1.ConvolutionBackpropData(x, w), b as [1, C, 1, 1])

    With groups: opset1.GroupConvolutionBackpropData(x, w as [group, C_in / group, C_out / group, kernel]).
    """
    parameter = parameters(node, "convolution_param")
    axes = _spatial_axes(node, parameter)
    kernel, window = _window(node, parameter, axes)
    if group < 1 or num_output < 1 or num_output % group:
        node.fail(f"{num_output} filters cannot be divided into {group} groups")
    weights = _deconvolution_weights(node, num_output // group, group, kernel)
    build = op.ConvolutionBackpropData if group == 1 else op.GroupConvolutionBackpropData
    return [_with_bias(node, op, build(x, weights, **window.properties()), parameter, num_output, axes) for x in bottoms(node)]


def _deconvolution_weights(node: LoweringNode, channels: int, group: int, kernel: tuple[int, ...]) -> Array:
    """The filters [C_in, channels, kernel], or [group, C_in / group, channels, kernel] for several groups.

    If the file has no weights, `weight_filler` must be bilinear, and they are computed. Raises ConversionError if this
    needs a number of channels that is dynamic.
    """
    if blob_count(node) or parameters(node, "convolution_param").message("weight_filler").text("type", "") != "bilinear":
        return blob(node, 0, (-1, channels, *kernel) if group == 1 else (group, -1, channels, *kernel))
    shape = shape_of(bottoms(node)[0])
    if shape is None or shape[1] < 0:
        node.fail("its weights are not in the file, and the number of channels is dynamic")
    filters = np.broadcast_to(_bilinear(kernel), (shape[1], channels, *kernel))
    return filters if group == 1 else filters.reshape(group, -1, channels, *kernel)


def _bilinear(kernel: tuple[int, ...]) -> Array:
    """The weights of `weight_filler { type: "bilinear" }`: bilinear interpolation, in the shape of the kernel."""
    result = np.ones((), np.float32)
    for size in kernel:
        factor = -(-size // 2)
        centre = (2 * factor - 1 - factor % 2) / (2 * factor)
        result = np.multiply.outer(result, 1 - np.abs(np.arange(size) / factor - centre)).astype(np.float32)
    return result


@caffe.lowers("ConvolutionBinary")
def binary_convolution(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """Raises ConversionError for caffe.ConvolutionBinary: the fork of Caffe that has this layer is not public."""
    node.fail("how the layer makes bits of data and weights is not documented", hint="add a lowering for it in an extension")
