"""The window of a convolution or a pooling, as the properties of opset operations have it."""

from __future__ import annotations

from typing import Any, NamedTuple


class SlidingWindow(NamedTuple):
    """The sliding window of a node, with an entry for each spatial axis; `auto_pad` is spelled as in the IR."""

    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads_begin: tuple[int, ...]
    pads_end: tuple[int, ...]
    auto_pad: str

    def properties(self) -> dict[str, Any]:
        """The properties of an opset operation."""
        return self._asdict()
