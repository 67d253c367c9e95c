"""The table of TensorFlow Lite's lowerings, in which the family modules of this package register their handlers."""

from __future__ import annotations

from functools import wraps

from xdsl.dialects.builtin import ComplexType

from moir.lowering.binder import LoweringNode
from moir.lowering.table import BoundHandler, LoweringTable, Replacement
from moir.rewriting.builder import OpBuilder

FLEX = "Flex"
"""The prefix of the kinds of TensorFlow's own operations: FlexErf is TensorFlow's Erf."""


COMPLEX = frozenset(
    (
        *("ADD", "BROADCAST_TO", "CAST", "COMPLEX_ABS", "CONCATENATION", "EXPAND_DIMS", "GATHER", "GATHER_ND", "IF", "IMAG", "MUL"),
        *("NEG", "PACK", "PAD", "PADV2", "RANK", "REAL", "RESHAPE", "REVERSE_V2", "SELECT", "SELECT_V2", "SHAPE", "SLICE", "SPLIT"),
        *("SPLIT_V", "SQUEEZE", "STRIDED_SLICE", "SUB", "TILE", "TRANSPOSE", "UNPACK", "WHILE"),
    )
)
"""Kinds that are lowered for complex numbers, too; their attribute T tells whether the operands are complex."""


def adapted(kind: str, handler: BoundHandler) -> BoundHandler:
    """The handler of a kind, which refuses complex numbers unless the kind is one of `COMPLEX`."""
    if kind in COMPLEX:
        return handler

    @wraps(handler)
    def real(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        if isinstance(node.op.properties.get("T"), ComplexType) and not kind.startswith(FLEX):
            node.fail("complex numbers are not supported", hint="write a lowering on pairs of real numbers for this node")
        return handler(node, op)

    return real


class FlexTable(LoweringTable):
    """A table in which the handler of one kind is for all operations of TensorFlow."""

    def handler(self, kind: str, version: int) -> BoundHandler | None:
        found = super().handler(kind, version)
        return super().handler(FLEX, version) if found is None and kind.startswith(FLEX) else found


tflite = FlexTable("tflite", "moir.lowering.tflite", adapt=adapted, implied=frozenset(("T",)))
