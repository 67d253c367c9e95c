"""The attributes of convolutions and pooling that describe the sliding window: window, strides, dilations, padding.

They have an element for every axis.
"""

from __future__ import annotations

from collections.abc import Sequence

from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode
from moir.lowering.tensorflow.attributes.data_format import is_channel_last, spatial

PADDINGS = {"SAME": "same_upper", "VALID": "valid", "EXPLICIT": "explicit"}


def default_format(axes: int) -> str:
    """The data format of a node without the attribute: NDHWC for three spatial axes, else NHWC."""
    return "NDHWC" if axes == 3 else "NHWC"


def spatial_attribute(node: LoweringNode, name: str, axes: int, last: bool) -> tuple[int, ...]:
    """The spatial elements of an attribute that has an element for every axis; ones if it is absent.

    Raises ConversionError for another number of elements, an element below 1, or one other than 1 for batch or
    channels.
    """
    return checked_entries(node, name, node.integers(name, ()) or (1,) * (axes + 2), axes, last)


def checked_entries(node: LoweringNode, name: str, entries: Sequence[int], axes: int, last: bool) -> tuple[int, ...]:
    """The spatial elements of `entries`, which has an element for every axis.

    Raises ConversionError for another number of elements, an element below 1, or one other than 1 for batch or
    channels.
    """
    if len(entries) != axes + 2:
        node.fail(f"{name} has {len(entries)} entries, not {axes + 2}")
    if min(entries) < 1:
        node.fail(f"{name} {list(entries)} has an entry below 1")
    rest = (entries[0], entries[-1 if last else 1])
    if rest != (1, 1):
        node.fail(f"{name} {list(entries)} is not 1 for batch and channels")
    return spatial(entries, last=last)


def padding(node: LoweringNode, axes: int, last: bool, *, default: str | None = None) -> tuple[tuple[int, ...], tuple[int, ...], str]:
    """Pads at the beginning and at the end of each spatial axis, and the `auto_pad` of the IR for the attribute
    `padding`.

    The pads are zeros unless the padding is EXPLICIT. `default` is the padding of a node without the attribute. Raises
    ConversionError for an unknown padding, or for explicit pads that are negative, of the wrong number, or of batch or
    channels.
    """
    spelled = node.text("padding", default)
    if spelled not in PADDINGS:
        node.fail(f"padding {spelled!r} does not exist")
    if spelled != "EXPLICIT":
        return (0,) * axes, (0,) * axes, PADDINGS[spelled]
    pads = node.integers("explicit_paddings", ())
    if len(pads) != 2 * (axes + 2) or min(pads) < 0:
        node.fail(f"explicit_paddings {list(pads)} are not {2 * (axes + 2)} sizes")
    begins, ends = spatial(pads[::2], last=last), spatial(pads[1::2], last=last)
    if sum(pads) != sum(begins) + sum(ends):
        node.fail(f"explicit_paddings {list(pads)} pad batch or channels")
    return begins, ends, "explicit"


def sliding_window(node: LoweringNode, axes: int) -> SlidingWindow:
    """The sliding window of a node. Raises ConversionError for attributes of wrong length or with invalid entries."""
    last = is_channel_last(node, node.text("data_format", default_format(axes)))
    strides, dilations = (spatial_attribute(node, name, axes, last) for name in ("strides", "dilations"))
    return SlidingWindow(strides, dilations, *padding(node, axes, last))
