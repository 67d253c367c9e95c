"""Convolutions and pooling, whose strides, dilations and pads may have an element for each axis of the data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.expansions.constant_forms import along_channels
from moir.lowering.table import Replacement
from moir.model_optimizer.frameworks.lookup import view_of
from moir.model_optimizer.graph.xml_records import xml_attributes
from moir.model_optimizer.lowering.layout import as_given, channel_first, spatial_entries
from moir.model_optimizer.lowering.node import MoLoweringNode
from moir.model_optimizer.lowering.table import lowers
from moir.rewriting.builder import OpBuilder


@dataclass(frozen=True)
class WindowPlacement:
    """The strides, dilations and pads of a window; each list has an element for each spatial axis."""

    strides: Sequence[int]
    dilations: Sequence[int]
    pads_begin: Sequence[int]
    pads_end: Sequence[int]
    auto_pad: str

    @property
    def properties(self) -> dict[str, Any]:
        """The properties of a convolution or pooling, without dilations."""
        return {
            "strides": list(self.strides),
            "pads_begin": list(self.pads_begin),
            "pads_end": list(self.pads_end),
            "auto_pad": self.auto_pad,
        }


@dataclass(frozen=True)
class WindowAttributes:
    """Reads the attributes of a node: by the names in its `backend_attrs`, or else by those of Model Optimizer's
    extractors.
    """

    node: MoLoweringNode
    texts: Mapping[str, str]

    @staticmethod
    def of(node: MoLoweringNode) -> WindowAttributes:
        """The attributes of a node. Functions of `backend_attrs` are called."""
        return WindowAttributes(node, xml_attributes(node.view))

    def integers(self, *names: str) -> tuple[int, ...] | None:
        """The value of the first of several attributes that is present and a list of integers; None if none is."""
        self.node.read_attributes.update(names)
        for name in names:
            text = self.texts.get(name)
            if text:
                try:
                    return tuple(int(item) for item in text.split(","))
                except ValueError:
                    self.node.fail(f"its attribute {name} is {text!r}, no list of integers")
        return self.node.axes(*names)

    def text(self, name: str, default: str, *others: str) -> str:
        """The first of several attributes that is present, as text in lower case without spaces around it, or the
        default.

        `name` is an attribute that `backend_attrs` writes; `others` are attributes of the node.
        """
        return str(self.texts.get(name) or self.node.first(name, *others, default=default)).strip().lower()


def window_of(node: MoLoweringNode, attributes: WindowAttributes, spatial: int) -> WindowPlacement:
    """The strides, dilations and pads of a node along `spatial` axes, from its attributes or their defaults.

    Raises ConversionError for an attribute `pad` that is not a pair for each axis, and for lists of another length.
    """

    def entries(*names: str) -> list[int]:
        given = attributes.integers(*names)
        return [1] * spatial if given is None else spatial_entries(node, given, spatial)

    begin, end = attributes.integers("pads_begin"), attributes.integers("pads_end")
    pad = node.get("pad")
    if begin is None and end is None and pad is not None:
        pairs = np.asarray(pad, dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            node.fail(f"its attribute pad is {pad!r}, not a pair for each axis")
        begin, end = tuple(pairs[:, 0].tolist()), tuple(pairs[:, 1].tolist())
    auto_pad = attributes.text("auto_pad", "explicit").replace("notset", "explicit")
    return WindowPlacement(
        entries("strides", "stride"),
        entries("dilations", "dilation"),
        [0] * spatial if begin is None else spatial_entries(node, begin, spatial),
        [0] * spatial if end is None else spatial_entries(node, end, spatial),
        auto_pad if auto_pad != "none" else "explicit",
    )


def _weights(node: MoLoweringNode, op: OpBuilder, weights: SSAValue, spatial: int) -> SSAValue:
    """The weights of a convolution in the order [out, in, spatial…]; those for channel-last data are [spatial…, in,
    out].

    The attributes `output_feature_channel`, `input_feature_channel` and `kernel_spatial_idx` may define another order.
    """
    filters, inputs = (node.axes(f"{name}_feature_channel") for name in ("output", "input"))
    kernel = node.axes("kernel_spatial_idx")
    if filters and inputs and rank_of(weights) == spatial + 2:
        order = [*filters, *inputs, *(kernel or (axis for axis in range(spatial + 2) if axis not in (*filters, *inputs)))]
        return weights if order == list(range(spatial + 2)) else op.Transpose(weights, order)
    if not node.is_channel_last:
        return weights
    return op.Transpose(weights, [spatial + 1, spatial, *range(spatial)])


def _shaped(node: MoLoweringNode, op: OpBuilder, weights: SSAValue, groups: int, is_transposed: bool = False) -> SSAValue:
    """Reshape weights to [out, in / groups, spatial…] or, with `is_transposed`, to [in, out / groups, spatial…].

    The weights of a Caffe layer are 1-D; the attributes `output` and `kernel_spatial` determine their shape.
    """
    if rank_of(weights) != 1:
        return weights
    kernel, filters = node.axes("kernel_spatial"), node.integer("output", 0)
    if kernel is None or filters < 1:
        node.fail("its weights are a list, but it has no attributes kernel_spatial and output that say their shape")
    leading = [-1, filters // groups] if is_transposed else [filters, -1]
    return op.Reshape(weights, [*leading, *kernel], special_zero=False)


def _groups(data: SSAValue, weights: SSAValue) -> int:
    """The number of groups of a convolution, from the number of channels of its data and its weights; 1 if one is
    unknown.
    """
    channels, inputs = shape_of(data), shape_of(weights)
    if channels is None or inputs is None or len(inputs) < 2 or min(channels[1], inputs[1]) < 1 or channels[1] % inputs[1]:
        return 1
    return channels[1] // inputs[1]


def _grouped(node: MoLoweringNode, op: OpBuilder, weights: SSAValue, groups: int) -> SSAValue:
    shape = shape_of(weights)
    if shape is None or any(dimension < 0 for dimension in shape) or shape[0] % groups:
        node.fail(f"weights of type {weights.type} cannot be divided into {groups} groups")
    return op.Reshape(weights, [groups, shape[0] // groups, *shape[1:]], special_zero=False)


def _with_bias(node: MoLoweringNode, op: OpBuilder, value: SSAValue, bias: SSAValue | None, spatial: int) -> SSAValue:
    if bias is not None:
        value = op.Add(value, along_channels(op, bias, spatial))
    return as_given(node, op, value)


@lowers("Convolution", "Conv", "Conv2D", "Conv3D")
def convolution(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Convolution(x, weights, bias) {stride, dilation, pad, group} -> opset1.Convolution or GroupConvolution; Conv2D
    and Conv3D likewise

    With the `type` Deconvolution it is a transposed convolution.
    """
    if node.type == "Deconvolution":
        return deconvolution(node, op)
    data = channel_first(node, op, node.operand(0))
    spatial = node.rank_of_value(data) - 2
    window = window_of(node, WindowAttributes.of(node), spatial)
    properties = {**window.properties, "dilations": list(window.dilations)}
    if node.is_channel_last and node.get("op") == "DepthwiseConv2dNative":
        # Weights [height, width, channels, multiplier].
        weights = op.Unsqueeze(op.Transpose(node.operand(1), [2, 3, 0, 1]), [2])
        return _with_bias(node, op, op.GroupConvolution(data, weights, **properties), node.optional(2), spatial)
    weights = _weights(node, op, node.operand(1), spatial)
    groups = node.integer("group", _groups(data, weights))
    weights = _shaped(node, op, weights, groups)
    if groups == 1:
        value = op.Convolution(data, weights, **properties)
    else:
        value = op.GroupConvolution(data, _grouped(node, op, weights, groups), **properties)
    return _with_bias(node, op, value, node.optional(2), spatial)


@lowers("Deconvolution", "Deconv2D")
def deconvolution(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.Deconvolution(x, weights) {stride, dilation, pad, group, output_padding} -> opset1.ConvolutionBackpropData;
    Deconv2D likewise

    Weights are [in, out, spatial…]. The third operand is a shape of integers, or biases.
    """
    if node.is_channel_last:
        node.fail("a Deconvolution of channel-last data is not supported", hint="give it a data_format of channel-first data")
    data = node.operand(0)
    spatial = node.rank_of_value(data) - 2
    window, groups = window_of(node, WindowAttributes.of(node), spatial), node.integer("group", 1)
    padding = node.axes("output_padding")
    properties = {**window.properties, "dilations": list(window.dilations)}
    if padding is not None:
        properties["output_padding"] = spatial_entries(node, padding, spatial)
    shape, weights = node.optional(2), _shaped(node, op, node.operand(1), groups, is_transposed=True)
    bias = None if shape is None or element_of(shape) in INTEGER_TYPES else shape
    shape = shape if bias is None else None
    if groups == 1:
        value = op.ConvolutionBackpropData(data, weights, shape, **properties)
    else:
        value = op.GroupConvolutionBackpropData(data, _grouped(node, op, weights, groups), shape, **properties)
    return _with_bias(node, op, value, bias, spatial)


@lowers("Pooling", "AvgPool", "AveragePool", "MaxPool")
def pooling(node: MoLoweringNode, op: OpBuilder) -> Replacement | Any:
    """mo.Pooling(x) {window, stride, pad, pool_method, exclude_pad, …} -> opset1.MaxPool or opset14.AvgPool"""
    if node.kind == "MaxPool" and node.get("pool_method") is None and node.is_used(1):
        return NotImplemented
    data = channel_first(node, op, node.operand(0))
    spatial = node.rank_of_value(data) - 2
    attributes = WindowAttributes.of(node)
    window = window_of(node, attributes, spatial)
    if node.get("global_pool"):
        kernel = list((shape_of(data) or ())[2:])
        if any(dimension < 0 for dimension in kernel):
            node.fail("the spatial dimensions of data that is pooled as a whole must be known")
    else:
        given = attributes.integers("kernel", "window")
        if given is None:
            node.fail("it has neither an attribute window nor an attribute kernel")
        kernel = spatial_entries(node, given, spatial)
    properties = {**window.properties, "kernel": kernel, "rounding_type": attributes.text("rounding_type", "floor")}
    method = attributes.text("pool-method", "max" if node.type == "MaxPool" else "avg", "pool_method")
    if method not in ("max", "avg"):
        node.fail(f"its pool_method {method!r} is neither max nor avg")
    if method == "max":
        results = [op["opset1.MaxPool"](data, **properties)]
    else:
        exclude = attributes.text("exclude-pad", "true", "exclude_pad") in ("1", "true")
        if not exclude and properties["rounding_type"] == "ceil" and view_of(node.run.framework.dialect).clips_windows:
            # Padding counts, but not the elements of a last window after the padding.
            pads = ([0, 0, *window.pads_begin], [0, 0, *window.pads_end])
            data = op.Pad(data, *pads, pad_mode="constant") if any(pads[0]) or any(pads[1]) else data
            none = [0] * spatial
            properties, exclude = {**properties, "pads_begin": none, "pads_end": none}, True
        results = [op["opset14.AvgPool"](data, **{"exclude-pad": exclude, **properties})]
    return [as_given(node, op, value) for value in results]


@lowers("AdaptiveAvgPooling")
def adaptive_pooling(node: MoLoweringNode, op: OpBuilder) -> Replacement:
    """mo.AdaptiveAvgPooling(x) {output_size} -> opset14.AvgPool, or opset8.AdaptiveAvgPool(x, sizes)

    The latter is for data whose sizes are dynamic or are not multiples of the output's sizes.
    """
    sizes = node.axes("output_size")
    if sizes is None:
        node.fail("it has no attribute output_size")
    data = channel_first(node, op, node.operand(0))
    given = (shape_of(data) or ())[2:]
    if len(given) == len(sizes) and all(size > 0 and each >= size and each % size == 0 for each, size in zip(given, sizes, strict=True)):
        steps = [each // size for each, size in zip(given, sizes, strict=True)]
        none = [0] * len(steps)
        window = {"strides": steps, "kernel": steps, "pads_begin": none, "pads_end": none, "exclude-pad": True}
        value = op["opset14.AvgPool"](data, **window, rounding_type="floor")
    else:
        value = op.AdaptiveAvgPool(data, list(sizes))
    return as_given(node, op, value)
