"""The sliding windows of convolutions and pooling: paddings and their algorithms, data formats.

Source: UpdatePaddingAndDilation in conv_op.h of PaddlePaddle 2.6.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import SSAValue

from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

CHANNEL_FIRST = ("NCHW", "NCDHW", "NCL", "NCW", "AnyLayout", "ANYLAYOUT", "NC", "")


def is_channel_last(node: LoweringNode, name: str = "data_format") -> bool:
    """Whether the channels are the last dimension in a data format."""
    layout = node.text(name, "NCHW")
    if layout in CHANNEL_FIRST:
        return False
    if layout not in ("NHWC", "NDHWC", "NLC", "NWC"):
        node.fail(f"{name} {layout!r} is not supported")
    return True


def spatial_axes(node: LoweringNode) -> int:
    """The number of spatial axes of a kind. Raises ConversionError if the rank of the data contradicts it."""
    axes = 3 if "3d" in node.op.KIND else 2
    if node.shape(0) is not None and node.known_rank(0) != axes + 2:
        node.fail(f"it has data of {node.known_rank(0)} dimensions, not {axes + 2}")
    return axes


def channel_first(op: OpBuilder, value: SSAValue, rank: int) -> SSAValue:
    """[N, …, C] -> [N, C, …]"""
    return op.transposed(value, [0, rank - 1, *range(1, rank - 1)])


def channel_last(op: OpBuilder, value: SSAValue, rank: int) -> SSAValue:
    """[N, C, …] -> [N, …, C]"""
    return op.transposed(value, [0, *range(2, rank), 1])


def with_channels_first(
    node: LoweringNode, op: OpBuilder, x: SSAValue, compute: Callable[[SSAValue], SSAValue], name: str = "data_format"
) -> SSAValue:
    """The result of a function that takes and returns channel-first data, for data in the layout of the attribute
    `name`.
    """
    if not is_channel_last(node, name):
        return compute(x)
    rank = node.known_rank(0)
    return channel_last(op, compute(channel_first(op, x, rank)), rank)


def by_axis(node: LoweringNode, name: str, values: Sequence[int], axes: int) -> tuple[int, ...]:
    """Values for the spatial axes, from one value for each axis or one for all.

    Raises ConversionError for another number of values.
    """
    if len(values) == 1:
        return tuple(values) * axes
    if len(values) != axes:
        node.fail(f"{name} has {len(values)} entries for {axes} spatial axes")
    return tuple(values)


def pads_of(node: LoweringNode, paddings: Sequence[int], axes: int, *, is_last: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The pads before and after each axis, from one number or two for each axis, or two for each dimension of the
    data.
    """
    if len(paddings) == 2 * (axes + 2):
        # Batch and channels are not padded.
        first = 2 if is_last else 4
        outer = [*paddings[:first], *paddings[first + 2 * axes :]]
        if any(outer):
            node.fail(f"paddings {list(paddings)} of batch or channels are not supported")
        paddings = paddings[first : first + 2 * axes]
    if len(paddings) == 2 * axes:
        begins, ends = tuple(paddings[0::2]), tuple(paddings[1::2])
    else:
        begins = ends = by_axis(node, "paddings", paddings, axes)
    if min(*begins, *ends) < 0:
        node.fail(f"paddings {list(paddings)} are negative")
    return begins, ends


def window_of(
    node: LoweringNode,
    axes: int,
    strides: Sequence[int],
    paddings: Sequence[int],
    dilations: Sequence[int],
    algorithm: str,
    *,
    is_last: bool,
) -> SlidingWindow:
    """The sliding window of a node. With the algorithm SAME the dilations are 1, as in PaddlePaddle."""
    steps, spread = by_axis(node, "strides", strides, axes), by_axis(node, "dilations", dilations, axes)
    if min(*steps, *spread) < 1:
        node.fail(f"strides {list(steps)} and dilations {list(spread)} are not a window")
    none = (0,) * axes
    if algorithm == "SAME":
        return SlidingWindow(steps, (1,) * axes, none, none, "same_upper")
    if algorithm == "VALID":
        return SlidingWindow(steps, spread, none, none, "valid")
    if algorithm not in ("EXPLICIT", ""):
        node.fail(f"padding_algorithm {algorithm!r} does not exist")
    return SlidingWindow(steps, spread, *pads_of(node, paddings, axes, is_last=is_last), "explicit")
