"""The attributes of convolutions and pooling that describe the sliding window: kernel, strides, dilations, pads."""

from __future__ import annotations

from collections.abc import Sequence

from moir.expansions.windows import SlidingWindow
from moir.lowering.binder import LoweringNode

AUTO_PAD = {"NOTSET": "explicit", "SAME_UPPER": "same_upper", "SAME_LOWER": "same_lower", "VALID": "valid"}

MAXIMUM_SPATIAL_AXES = 3


def spatial_axes(node: LoweringNode, operands: Sequence[int]) -> int:
    """The number of spatial axes, from the attributes or from the rank of one of the `operands`.

    Raises ConversionError if neither determines the number.
    """
    count = None
    for name in ("kernel_shape", "strides", "dilations", "output_padding"):
        if entries := node.integers(name, ()):
            count = len(entries)
            break
    if count is None:
        ranks = [rank for index in operands if (rank := node.rank(index)) is not None]
        count = ranks[0] - 2 if ranks else len(node.integers("pads", ())) // 2
    if not 1 <= count <= MAXIMUM_SPATIAL_AXES:
        node.fail(f"it has {count} spatial axes, windows of the operation sets have 1 to {MAXIMUM_SPATIAL_AXES}")
    return count


def sliding_window(node: LoweringNode, axes: int) -> SlidingWindow:
    """The sliding window of a node. Raises ConversionError for attributes of wrong length or with invalid entries."""
    strides, dilations = (axis_attribute(node, name, axes, 1, lowest=1) for name in ("strides", "dilations"))
    spelled = node.text("auto_pad", "NOTSET") or "NOTSET"
    if spelled not in AUTO_PAD:
        node.fail(f"auto_pad {spelled!r} does not exist")
    pads = axis_attribute(node, "pads", 2 * axes, 0) if spelled == "NOTSET" else (0,) * (2 * axes)
    return SlidingWindow(strides, dilations, pads[:axes], pads[axes:], AUTO_PAD[spelled])


def axis_attribute(node: LoweringNode, name: str, count: int, default: int, lowest: int = 0) -> tuple[int, ...]:
    """An attribute of `count` integers, each `default` if it is absent.

    Raises ConversionError for another number of integers, or for one below `lowest`.
    """
    entries = node.integers(name, ()) or (default,) * count
    if len(entries) != count:
        node.fail(f"{name} has {len(entries)} entries, not {count}")
    if min(entries) < lowest:
        node.fail(f"{name} {list(entries)} has an entry below {lowest}")
    return entries


def kernel_shape(node: LoweringNode) -> tuple[int, ...]:
    """The kernel of a pooling operation. Raises ConversionError for a missing or invalid kernel."""
    kernel = node.integers("kernel_shape")
    if not 1 <= len(kernel) <= MAXIMUM_SPATIAL_AXES or min(kernel) < 1:
        node.fail(f"kernel_shape {list(kernel)} is not a kernel of 1 to {MAXIMUM_SPATIAL_AXES} axes")
    return kernel
