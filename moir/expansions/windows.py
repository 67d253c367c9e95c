"""The sliding window of a convolution or pooling operation, as properties of opset operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moir.support.records import Record


class SlidingWindow(Record):
    """The sliding window of a convolution or pooling: tuples with an element for each spatial axis, and `auto_pad` as
    the IR spells it.
    """

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    auto_pad: str

    def properties(self) -> dict[str, Any]:
        """The properties `strides`, `dilations`, `pads_begin`, `pads_end` and `auto_pad` of an opset operation with
        this window.
        """
        return dict(vars(self))


def padded_window(
    kernel: Sequence[int] | None, strides: Sequence[int], begins: Sequence[int], ends: Sequence[int], dilations: Sequence[int] | None = None
) -> dict[str, Any]:
    """The properties of a windowed operation with explicit pads, which `begins` and `ends` are.

    `kernel` and `dilations` are left out if they are None.
    """
    attributes = {"kernel": kernel, "strides": strides, "dilations": dilations, "pads_begin": begins, "pads_end": ends}
    return {name: value for name, value in attributes.items() if value is not None}
