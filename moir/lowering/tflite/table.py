"""The table of TensorFlow Lite's lowerings, in which the family modules of this package register their handlers."""

from __future__ import annotations

from moir.lowering.table import BoundHandler, LoweringTable

FLEX = "Flex"
"""How the kinds of TensorFlow's own operations begin: FlexErf is TensorFlow's Erf."""


class FlexTable(LoweringTable):
    """A table in which the handler of one kind is for all operations of TensorFlow."""

    def handler(self, kind: str, version: int) -> BoundHandler | None:
        found = super().handler(kind, version)
        return super().handler(FLEX, version) if found is None and kind.startswith(FLEX) else found


tflite = FlexTable("tflite", "moir.lowering.tflite")
