"""Convolutions and transposed convolutions of one to three axes; the batch may be missing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from xdsl.ir import SSAValue

from moir.dialects.shapes import element_of, is_static, shape_of
from moir.expansions.constant_forms import along_channels
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.arguments import Size, Sizes, size_list
from moir.lowering.pytorch.complex.rules import bilinear_in
from moir.lowering.pytorch.promotion import as_element, inferred_element
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder

T = TypeVar("T")


def per_axis(node: LoweringNode, values: Sequence[T], axes: int, name: str, default: T | None = None) -> list[T]:
    """The values of argument `name` for each of `axes` spatial axes: one for each, one for all, or if there are none
    the default.

    Raises ConversionError for another number of values.
    """
    entries = list(values) or ([] if default is None else [default])
    if len(entries) == 1:
        entries *= axes
    if len(entries) != axes:
        node.fail(f"{name} has {len(entries)} entries for {axes} spatial axes")
    return entries


def _grouped(node: LoweringNode, op: OpBuilder, weight: SSAValue, groups: int) -> SSAValue:
    """Weights [C, …] reshaped to [groups, C / groups, …]; a constant stays a constant."""
    shape = shape_of(weight)
    if shape is None or not is_static(shape) or groups < 1 or shape[0] % groups:
        node.fail(f"the weights cannot be divided into {groups} groups")
    split = [groups, shape[0] // groups, *shape[1:]]
    array = op.known.constant(weight)
    return op.constant(array.reshape(split), element_of(weight)) if array is not None else op.Reshape(weight, split, special_zero=False)


def _convolved(
    node: LoweringNode,
    op: OpBuilder,
    operands: tuple[SSAValue, SSAValue, SSAValue | None],
    window: dict[str, Sequence[int] | str],
    groups: int,
    padding: Sequence[Size] | None,
) -> SSAValue:
    """Build a convolution, or a transposed one if `padding`, the padding of its output, is given.

    Args:
        node: the node.
        op: the builder.
        operands: the data, whose batch may be missing, the weights, and the bias or None.
        window: strides, dilations and pads.
        groups: the number of groups.
        padding: the padding of the output along each spatial axis; None for a convolution.

    Raises ConversionError if the rank of the data does not fit the weights.
    """
    element = inferred_element(node)
    x, weight, bias = operands
    x, weight = as_element(op, element, x, weight)
    axes = node.known_rank(1) - 2
    rank = node.known_rank(0)
    is_single = rank == axes + 1
    if is_single:
        x = op.Unsqueeze(x, [0])
    elif rank != axes + 2:
        node.fail(f"its operand has {rank} dimensions where there are {axes} spatial axes")
    filters = weight if groups == 1 else _grouped(node, op, weight, groups)
    if padding is None:
        convolved = (op.Convolution if groups == 1 else op.GroupConvolution)(x, filters, **window)
    else:
        build = op.ConvolutionBackpropData if groups == 1 else op.GroupConvolutionBackpropData
        convolved = _cut(op, build(x, filters, **window, output_padding=_largest(window, padding)), window, padding)
    if bias is not None:
        convolved = op.Add(convolved, along_channels(op, as_element(op, element, bias)[0], axes))
    return op.Squeeze(convolved, [0]) if is_single else convolved


def _largest(window: dict[str, Sequence[int] | str], padding: Sequence[Size]) -> list[int]:
    """For each axis, the padding of the output, or if it is computed the largest one that torch allows (below the
    stride or dilation).
    """
    limits = [max(int(stride), int(dilation)) for stride, dilation in zip(window["strides"], window["dilations"], strict=True)]
    return [size if isinstance(size, int) else limit - 1 for size, limit in zip(padding, limits, strict=True)]


def _cut(op: OpBuilder, x: SSAValue, window: dict[str, Sequence[int] | str], padding: Sequence[Size]) -> SSAValue:
    """A transposed convolution with the largest output padding, cut to the output padding that is computed when the
    model runs.
    """
    largest = _largest(window, padding)
    axes = [index for index, size in enumerate(padding) if not isinstance(size, int)]
    if not axes:
        return x
    ends = [op.Add(dimension_list(op, x, 2 + index), op.Subtract(size_list(op, padding[index]), largest[index])) for index in axes]
    stops = op.Concat(*ends, axis=0) if len(ends) > 1 else ends[0]
    return op.Slice(x, [0] * len(axes), stops, [1] * len(axes), [2 + index for index in axes])


def _window(node: LoweringNode, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]) -> dict[str, Sequence[int] | str]:
    axes = node.known_rank(1) - 2
    if not 1 <= axes <= 3:
        node.fail(f"a convolution of {axes} axes")
    pads = per_axis(node, padding, axes, "padding", 0)
    strides, dilations = per_axis(node, stride, axes, "stride", 1), per_axis(node, dilation, axes, "dilation", 1)
    if min(*strides, *dilations) < 1 or min(pads) < 0:
        node.fail(f"stride {strides} and dilation {dilations} have to be positive, and padding {pads} not negative")
    return {"strides": strides, "dilations": dilations, "pads_begin": pads, "pads_end": pads, "auto_pad": "explicit"}


@aten.lowers("conv1d.default", "conv2d.default", "conv3d.default", complex=bilinear_in("input", "weight", "bias"))
def conv(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    *,
    stride: tuple[int, ...] = (1,),
    padding: tuple[int, ...] = (0,),
    dilation: tuple[int, ...] = (1,),
    groups: int = 1,
) -> SSAValue:
    """aten.conv2d.default(x, w, b) -> opset1.Convolution(x, w) + b as [1, C, 1, 1]; with groups GroupConvolution;
    `conv1d` and `conv3d` likewise
    """
    return _convolved(node, op, (input, weight, bias), _window(node, stride, padding, dilation), groups, None)


@aten.lowers("conv1d.padding", "conv2d.padding", "conv3d.padding", complex=bilinear_in("input", "weight", "bias"))
def conv_padding(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    *,
    stride: tuple[int, ...] = (1,),
    padding: str = "valid",
    dilation: tuple[int, ...] = (1,),
    groups: int = 1,
) -> SSAValue:
    """aten.conv2d.padding(x, w, b) {padding = "same"} -> Convolution with pads, one more at the end of an odd total;
    `conv1d` and `conv3d` likewise
    """
    window = _window(node, stride, (0,), dilation)
    if padding == "same":
        shape, dilations = shape_of(weight), per_axis(node, dilation, node.known_rank(1) - 2, "dilation", 1)
        if shape is None or not is_static(shape[2:]):
            node.fail("the size of its kernel is dynamic")
        totals = [step * (size - 1) for step, size in zip(dilations, shape[2:], strict=True)]
        window |= {"pads_begin": [total // 2 for total in totals], "pads_end": [total - total // 2 for total in totals]}
    elif padding != "valid":
        node.fail(f"padding {padding!r} is neither valid nor same")
    return _convolved(node, op, (input, weight, bias), window, groups, None)


@aten.lowers(
    "conv_transpose1d.default",
    "conv_transpose2d.input",
    "conv_transpose3d.input",
    complex=bilinear_in("input", "weight", "bias"),
)
def conv_transpose(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    *,
    stride: tuple[int, ...] = (1,),
    padding: tuple[int, ...] = (0,),
    output_padding: Sizes = (0,),
    groups: int = 1,
    dilation: tuple[int, ...] = (1,),
) -> SSAValue:
    """aten.conv_transpose2d.input(x, w, b) -> opset1.ConvolutionBackpropData(x, w) + b as [1, C, 1, 1]; 1-D and 3-D
    likewise

    For a computed `output_padding` the result of the largest one is cut.
    """
    more = per_axis(node, output_padding, node.known_rank(1) - 2, "output_padding", 0)
    return _convolved(node, op, (input, weight, bias), _window(node, stride, padding, dilation), groups, more)


@aten.lowers("convolution.default", complex=bilinear_in("input", "weight", "bias"))
@aten.lowers("_convolution.default")
def convolution(
    node: LoweringNode,
    op: OpBuilder,
    input: SSAValue,
    weight: SSAValue,
    bias: SSAValue | None = None,
    *,
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    transposed: bool,
    output_padding: Sizes,
    groups: int,
) -> SSAValue:
    """aten.convolution.default(x, w, b) {transposed = false} -> Convolution, or transposed ConvolutionBackpropData"""
    more = per_axis(node, output_padding, node.known_rank(1) - 2, "output_padding", 0) if transposed else None
    return _convolved(node, op, (input, weight, bias), _window(node, stride, padding, dilation), groups, more)
