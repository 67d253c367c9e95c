"""Convolutions and poolings."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.table import opset

_AUTO_PADS = {"same_upper": "SAME_UPPER", "same_lower": "SAME_LOWER", "valid": "VALID"}


def window_attributes(node: LoweringNode, count: int) -> dict[str, object]:
    """The attributes of ONNX for the strides, dilations and paddings of a node with `count` spatial dimensions."""
    attributes: dict[str, object] = {}
    if strides := node.integers("strides", ()):
        attributes["strides"] = strides
    if dilations := node.integers("dilations", ()):
        attributes["dilations"] = dilations
    auto_pad = node.text("auto_pad", "explicit")
    dilations = node.integers("dilations", ())
    if auto_pad.startswith("same") and any(each > 1 for each in dilations):
        attributes["pads"] = _same_pads(node, dilations, is_upper=auto_pad == "same_upper")
    elif auto_pad in _AUTO_PADS:
        attributes["auto_pad"] = _AUTO_PADS[auto_pad]
    else:
        begin, end = node.integers("pads_begin", ()), node.integers("pads_end", ())
        attributes["pads"] = (*(begin or (0,) * count), *(end or (0,) * count))
    return attributes


def _same_pads(node: LoweringNode, dilations: Sequence[int], *, is_upper: bool) -> tuple[int, ...]:
    """The pads with which a result has size ⌈size / stride⌉, for dilated windows; an odd pad is at the end if
    `is_upper`.

    They are computed here because runtimes of ONNX ignore dilations when they compute them.
    """
    shape, filters = node.shape(0), node.shape(1) if len(node.values) > 1 else None
    kernel = node.integers("kernel", ()) or (() if filters is None else filters[-len(dilations) :])
    strides = node.integers("strides", (1,) * len(dilations))
    sizes = (-1,) * len(dilations) if shape is None else shape[2:]
    if not kernel or any(size < 0 and stride > 1 for size, stride in zip(sizes, strides, strict=True)):
        node.fail("its padding depends on dynamic dimensions, with dilated windows", hint="give the inputs static shapes")
    totals: list[int] = []
    for size, stride, width, dilation in zip(sizes, strides, kernel, dilations, strict=True):
        count = 1 if size < 0 else -(-size // stride)
        covered = (count - 1) * stride + (width - 1) * dilation + 1
        totals.append(max(covered - (1 if size < 0 else size), 0))
    smaller, larger = [each // 2 for each in totals], [each - each // 2 for each in totals]
    return (*smaller, *larger) if is_upper else (*larger, *smaller)


def _spatial(node: LoweringNode, filters_lead: int) -> int:
    """The number of spatial dimensions of a convolution, whose filters have `filters_lead` more dimensions."""
    shape = node.shape(1)
    return len(shape) - filters_lead if shape is not None else node.known_rank(0) - 2


@opset.lowers("Convolution")
def convolution(node: LoweringNode, op: OnnxBuilder, x: SSAValue, filters: SSAValue) -> SSAValue:
    """opset1.Convolution(x, filters) -> onnx.Conv(x, filters)"""
    return op.Conv(x, filters, **window_attributes(node, _spatial(node, 2)))


def _merged(node: LoweringNode, op: OnnxBuilder, filters: SSAValue) -> SSAValue:
    """Filters [G, A, B, …] with the groups merged into the next dimension: [G·A, B, …]."""
    shape = shape_of(filters)
    assert shape is not None
    constant = node.constant(1)
    if constant is not None:
        return op.constant(constant.reshape((shape[0] * shape[1], *shape[2:])), node.element(1))
    sizes = op.joined([-1], op.sizes(filters, 2, len(shape)))
    return op.Reshape(filters, sizes)


def _groups(node: LoweringNode) -> int:
    shape = node.shape(1)
    if shape is None or shape[0] < 0:
        node.fail("the number of groups is dynamic, but ONNX has it as an attribute", hint="make the filters static")
    return shape[0]


@opset.lowers("GroupConvolution")
def group_convolution(node: LoweringNode, op: OnnxBuilder, x: SSAValue, filters: SSAValue) -> SSAValue:
    """opset1.GroupConvolution(x, filters [G, O / G, I / G, …]) -> onnx.Conv(x, filters as [O, I / G, …]) {group = G}"""
    groups = _groups(node)
    return op.Conv(x, _merged(node, op, filters), group=groups, **window_attributes(node, _spatial(node, 3)))


def _transposed(node: LoweringNode, op: OnnxBuilder, x: SSAValue, filters: SSAValue, group: int, lead: int) -> SSAValue:
    count = _spatial(node, lead)
    attributes = window_attributes(node, count)
    if any(padding := node.integers("output_padding", ())):
        attributes["output_padding"] = padding
    if node.optional(2) is not None:
        shape = node.constant_integers(2)
        if shape is None:
            node.fail("the shape of its result is not constant, as the attribute of ONNX requires")
        attributes["output_shape"] = shape
        attributes.pop("pads", None)
        # The specification puts the larger half of an odd padding in front for SAME_UPPER in a transposed convolution.
        attributes.setdefault("auto_pad", "SAME_UPPER")
    return op.ConvTranspose(x, filters, group=group, **attributes)


@opset.lowers("ConvolutionBackpropData")
def transposed_convolution(node: LoweringNode, op: OnnxBuilder, x: SSAValue, filters: SSAValue, _shape: SSAValue | None = None) -> SSAValue:
    """opset1.ConvolutionBackpropData(x, filters) -> onnx.ConvTranspose(x, filters)"""
    return _transposed(node, op, x, filters, 1, 2)


@opset.lowers("GroupConvolutionBackpropData")
def transposed_group_convolution(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, filters: SSAValue, _shape: SSAValue | None = None
) -> SSAValue:
    """opset1.GroupConvolutionBackpropData(x, filters [G, I / G, O / G, …]) -> onnx.ConvTranspose(x, filters as [I, O /
    G, …])
    """
    return _transposed(node, op, x, _merged(node, op, filters), _groups(node), 3)


@opset.lowers("DeformableConvolution", since=19)
def deformable_convolution(
    node: LoweringNode,
    op: OnnxBuilder,
    x: SSAValue,
    offsets: SSAValue,
    filters: SSAValue,
    mask: SSAValue | None = None,
    *,
    group: int = 1,
    deformable_group: int = 1,
    bilinear_interpolation_pad: bool = False,
) -> SSAValue:
    """opset8.DeformableConvolution(x, offsets, filters, mask) -> onnx.DeformConv(x, filters, offsets, _, mask)"""
    if not bilinear_interpolation_pad:
        node.fail("positions at the border count as outside (bilinear_interpolation_pad), which ONNX's DeformConv interpolates")
    shape = node.shape(2)
    count = 2 if shape is None else len(shape) - 2
    attributes = window_attributes(node, count)
    if "auto_pad" in attributes:
        node.fail("ONNX's DeformConv has no automatic padding", hint="give the padding as numbers")
    operands = [x, filters, offsets, *([] if mask is None else [None, mask])]
    return op.DeformConv(*operands, group=group, offset_group=deformable_group, **attributes)


def _rounding(node: LoweringNode, attributes: dict[str, object], kernel: Sequence[int]) -> dict[str, object]:
    """The `attributes` of a pooling, with `ceil_mode` or more padding, so that its result has the size that the node's
    rounding type gives.

    With `ceil` a last window may lie completely in the padding; ONNX leaves such a window out, as `ceil_torch` does. If
    the shape is static, the end is padded further in this case.
    """
    rounding = node.text("rounding_type", "floor")
    if rounding == "floor" or "pads" not in attributes:
        return attributes
    shape, result = node.shape(0), shape_of(node.op.results[0])
    if rounding == "ceil_torch" or shape is None or result is None or min(*shape[2:], *result[2:]) < 0:
        return {**attributes, "ceil_mode": 1}
    strides = node.integers("strides", (1,) * len(kernel))
    dilations = node.integers("dilations", ()) or (1,) * len(kernel)
    begin, end = node.integers("pads_begin"), node.integers("pads_end")
    leaves_out = any(
        (count - 1) * stride >= size + first for count, stride, size, first in zip(result[2:], strides, shape[2:], begin, strict=True)
    )
    if not leaves_out:
        return {**attributes, "ceil_mode": 1}
    further = [
        max(last, (count - 1) * stride + (width - 1) * dilation + 1 - size - first)
        for last, count, stride, width, dilation, size, first in zip(
            end, result[2:], strides, kernel, dilations, shape[2:], begin, strict=True
        )
    ]
    return {**attributes, "pads": (*begin, *further)}


@opset.lowers("MaxPool")
def max_pool(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, kernel: tuple[int, ...], index_element_type: Attribute = si64, axis: int = 0
) -> Sequence[SSAValue]:
    """opset14.MaxPool(x) -> onnx.MaxPool(x): the maxima, and their indices in the flattened data, or in it from `axis`
    on
    """
    attributes = _rounding(node, window_attributes(node, len(kernel)), kernel)
    if not node.is_used(1):
        return [op.MaxPool(x, kernel_shape=kernel, **attributes)]
    values, indices = op.MaxPool.results(2, x, kernel_shape=kernel, **attributes)
    if axis:
        sizes = op.sizes(x, axis % node.known_rank(0), node.known_rank(0))
        indices = op.Mod(indices, op.ReduceProd(sizes, keepdims=1))
    return [values, op.cast(indices, index_element_type)]


@opset.lowers("AvgPool")
def avg_pool(node: LoweringNode, op: OnnxBuilder, x: SSAValue, *, kernel: tuple[int, ...]) -> SSAValue:
    """opset14.AvgPool(x) -> onnx.AveragePool(x), the means of windows, which count padding unless
    `exclude-pad` is set
    """
    includes = not node.flag("exclude-pad")
    windows = window_attributes(node, len(kernel))
    attributes = _rounding(node, windows, kernel)
    if includes and attributes.get("pads") != windows.get("pads"):
        node.fail("a last window is in the padding altogether, and padding counts", hint="give the inputs other shapes")
    if set(node.integers("dilations", ())) <= {1}:
        attributes.pop("dilations", None)
    elif op.version < 19:
        node.fail("its windows are dilated, which ONNX has from version 19 of the operator set on", hint="give --opset 19 or newer")
    return op.AveragePool(x, kernel_shape=kernel, count_include_pad=int(includes), **attributes)


def _adaptive_windows(node: LoweringNode, kind: str) -> tuple[list[int], list[int]]:
    """The kernel and the strides of an adaptive pooling. Raises ConversionError if its windows differ in size."""
    shape, sizes = node.shape(0), node.constant_integers(1)
    if shape is None or sizes is None or min(shape[2:], default=0) < 0:
        node.fail("its windows depend on dynamic dimensions", hint="give the inputs static shapes")
    if any(size % count for size, count in zip(shape[2:], sizes, strict=True)):
        node.fail(f"its windows are of several sizes, which ONNX's {kind} does not have", hint="give the inputs other shapes")
    kernel = [size // count for size, count in zip(shape[2:], sizes, strict=True)]
    return kernel, kernel


@opset.lowers("AdaptiveAvgPool")
def adaptive_avg_pool(node: LoweringNode, op: OnnxBuilder, x: SSAValue, _sizes: SSAValue) -> SSAValue:
    """opset8.AdaptiveAvgPool(x, sizes) -> the means of as many windows as the result has elements"""
    if set(node.constant_integers(1) or ()) == {1}:
        return op.GlobalAveragePool(x)
    shape, sizes = node.shape(0), node.constant_integers(1)
    if (
        shape is None
        or sizes is None
        or min(shape[2:], default=0) < 0
        or all(size % count == 0 for size, count in zip(shape[2:], sizes, strict=True))
    ):
        kernel, strides = _adaptive_windows(node, "AveragePool")
        return op.AveragePool(x, kernel_shape=tuple(kernel), strides=tuple(strides))
    import numpy as np

    # Windows along an axis are columns of a matrix.
    rank = len(shape)
    for axis, size, count in zip(range(2, rank), shape[2:], sizes, strict=True):
        matrix = np.zeros((size, count), np.float32)
        for index in range(count):
            first, last = index * size // count, -(-(index + 1) * size // count)
            matrix[first:last, index] = 1 / (last - first)
        order = [*range(axis), *range(axis + 1, rank), axis]
        back = [order.index(each) for each in range(rank)]
        x = op.Transpose(op.MatMul(op.Transpose(x, perm=tuple(order)), op.constant(matrix, node.element(0))), perm=tuple(back))
    return x


@opset.lowers("AdaptiveMaxPool")
def adaptive_max_pool(
    node: LoweringNode, op: OnnxBuilder, x: SSAValue, _sizes: SSAValue, *, index_element_type: Attribute = si64
) -> Sequence[SSAValue]:
    """opset8.AdaptiveMaxPool(x, sizes) -> the maxima of as many windows as the result has elements, their indices in a
    channel
    """
    kernel, strides = _adaptive_windows(node, "MaxPool")
    if not node.is_used(1):
        return [op.MaxPool(x, kernel_shape=tuple(kernel), strides=tuple(strides))]
    values, indices = op.MaxPool.results(2, x, kernel_shape=tuple(kernel), strides=tuple(strides))
    sizes = op.sizes(x, 2, node.known_rank(0))
    return [values, op.cast(op.Mod(indices, op.ReduceProd(sizes, keepdims=1)), index_element_type)]
