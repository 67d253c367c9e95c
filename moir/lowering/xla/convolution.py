"""Convolutions in any layout, over padded and dilated data, with groups."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.shapes import is_static, shape_of
from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.xla.padding import with_edges, with_interior
from moir.rewriting.builder import OpBuilder

MAXIMUM_SPATIAL = 3
"""Largest number of spatial axes of opset1.Convolution."""


def _reversed(op: OpBuilder, filters: SSAValue, axes: int) -> SSAValue:
    """Filters reversed along their spatial axes, the last `axes` ones."""
    return op.Slice(filters, [-1] * axes, [-(2**31)] * axes, [-1] * axes, list(range(2, axes + 2)))


def convolved(
    node: LoweringNode, op: OpBuilder, x: SSAValue, w: SSAValue, window: SlidingWindow, spread: Sequence[int], groups: int
) -> SSAValue:
    """The convolution of x by filters w in the layout of a node's dimension numbers; integers are computed as floats.

    Raises ConversionError unless it has 1 to 3 spatial axes and a valid number of groups.

    Args:
        window: strides, dilation of the filters, padding, which may be negative.
        spread: the dilation of x along each axis; more than 1 puts zeros between neighbours.
        groups: the number of groups of channels.
    """
    spatial = node.integers("input_spatial_dimensions", ())
    if not 1 <= len(spatial) <= MAXIMUM_SPATIAL:
        node.fail(f"a convolution along {len(spatial)} axes is not supported", hint="the operation sets have convolutions of 1 to 3 axes")
    batches = node.integer("batch_group_count", 1)
    if batches < 1 or (batches > 1 and groups != 1):
        node.fail(f"{batches} groups of the batch and {groups} of the channels")
    data = transposed(node, op, x, ("input_batch_dimension", "input_feature_dimension"), spatial)
    if batches > 1:
        data, groups = batches_as_channels(node, op, data, batches), batches
    outer = ("kernel_output_feature_dimension", "kernel_input_feature_dimension")
    filters = transposed(node, op, w, outer, node.integers("kernel_spatial_dimensions", ()))
    result = channel_first(node, op, data, filters, window, spread, groups)
    outer = ("output_batch_dimension", "output_feature_dimension")
    axes = dimensions(node, outer, node.integers("output_spatial_dimensions", ()), len(spatial) + 2)
    return op.transposed(result, [axes.index(axis) for axis in range(len(axes))])


def batches_as_channels(node: LoweringNode, op: OpBuilder, data: SSAValue, groups: int) -> SSAValue:
    """Move groups of the batch, as gradients have them, to the channels: [groups · N, C, …] -> [N, groups · C, …]"""
    shape = shape_of(data)
    if shape is None or not is_static(shape) or shape[0] % groups:
        node.fail("the batch of its data is dynamic, or not a multiple of batch_group_count")
    rank = len(shape)
    apart = op.Reshape(data, [groups, shape[0] // groups, *shape[1:]], special_zero=False)
    swapped = op.Transpose(apart, [1, 0, *range(2, rank + 1)])
    return op.Reshape(swapped, [shape[0] // groups, groups * shape[1], *shape[2:]], special_zero=False)


def dimensions(node: LoweringNode, outer: Sequence[str], spatial: Sequence[int], rank: int) -> list[int]:
    """The dimensions that the attributes `outer` name (batch and feature), then the `spatial` ones.

    Raises ConversionError unless these are all dimensions of a tensor of rank `rank`.
    """
    order = [*(node.integer(name, 0) for name in outer), *spatial]
    if sorted(order) != list(range(rank)):
        node.fail(f"its dimension numbers {order} are not those of a tensor of rank {rank}")
    return order


def transposed(node: LoweringNode, op: OpBuilder, value: SSAValue, outer: Sequence[str], spatial: Sequence[int]) -> SSAValue:
    """Transpose data or filters to the dimensions that the attributes `outer` name, then the spatial ones."""
    return op.transposed(value, dimensions(node, outer, spatial, len(spatial) + 2))


def channel_first(
    node: LoweringNode, op: OpBuilder, data: SSAValue, filters: SSAValue, window: SlidingWindow, spread: Sequence[int], groups: int
) -> SSAValue:
    """The convolution of data [N, C, …] by filters [output channels, C / groups, …]; parameters as in `convolved`."""
    shape = shape_of(filters)
    if groups != 1 and (shape is None or not is_static(shape[1:])):
        node.fail("the shape of grouped filters is unknown")
    if shape is not None and max(spread) > 1 and max(window.strides) == 1 and is_static(shape[2:]):
        extents = [(size - 1) * rate for size, rate in zip(shape[2:], window.dilations, strict=True)]
        ends = [[extent - pad for extent, pad in zip(extents, pads, strict=True)] for pads in (window.pads_begin, window.pads_end)]
        if min(map(min, ends)) >= 0:
            return _transposed_convolution(op, data, filters, window, spread, groups, ends)
    zero = op.constant_like(0, data)
    data = with_interior(op, data, [0, 0, *(step - 1 for step in spread)], zero)
    if min(*window.pads_begin, *window.pads_end) < 0:
        data = with_edges(op, data, [0, 0, *window.pads_begin], [0, 0, *window.pads_end], zero)
        nothing = (0,) * len(spread)
        window = window.with_fields(pads_begin=nothing, pads_end=nothing)
    if groups == 1:
        return op.Convolution(data, filters, **window.properties())
    split = op.Reshape(filters, [groups, -1, *(shape or ())[1:]], special_zero=False)
    return op.GroupConvolution(data, split, **window.properties())


def _transposed_convolution(
    op: OpBuilder,
    data: SSAValue,
    filters: SSAValue,
    window: SlidingWindow,
    spread: Sequence[int],
    groups: int,
    ends: Sequence[Sequence[int]],
) -> SSAValue:
    """The convolution of dilated data, as a transposed convolution by the reversed filters.

    `spread` is the dilation of the data, the strides of the transposed convolution; `ends` is the padding of the
    convolution at both ends of each axis. It equals the extent of the window beyond the data minus the crop of the
    transposed convolution.
    """
    axes, shape = len(spread), shape_of(filters) or ()
    turned = _reversed(op, filters, axes)
    properties = window.with_fields(strides=tuple(spread), pads_begin=tuple(ends[0]), pads_end=tuple(ends[1])).properties()
    spatial = list(range(3, axes + 3))
    if groups == 1:
        swapped = op.Transpose(turned, [1, 0, *(axis - 1 for axis in spatial)])
        return op.ConvolutionBackpropData(data, swapped, **properties, output_padding=(0,) * axes)
    swapped = op.Transpose(op.Reshape(turned, [groups, -1, *shape[1:]], special_zero=False), [0, 2, 1, *spatial])
    return op.GroupConvolutionBackpropData(data, swapped, **properties, output_padding=(0,) * axes)
