"""The sliding window of a convolution or pooling operation, as properties of opset operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moir.support.records import Record


class SlidingWindow(Record):
    """The sliding window of a node, with an element for each spatial axis and `auto_pad` as the IR spells it."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    auto_pad: str

    def properties(self) -> dict[str, Any]:
        """The properties of an opset operation with this window."""
        return dict(vars(self))


def padded_window(
    kernel: Sequence[int] | None, strides: Sequence[int], begins: Sequence[int], ends: Sequence[int], dilations: Sequence[int] | None = None
) -> dict[str, Any]:
    """Properties `strides`, `pads_begin`, … of a windowed operation; `kernel` and `dilations` are left out if None."""
    attributes = {"kernel": kernel, "strides": strides, "dilations": dilations, "pads_begin": begins, "pads_end": ends}
    return {name: value for name, value in attributes.items() if value is not None}
