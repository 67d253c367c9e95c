"""The table of TensorFlow Lite's lowerings, in which the family modules of this package register their handlers."""

from __future__ import annotations

from functools import wraps

from xdsl.dialects.builtin import ComplexType

from moir.lowering.binder import LoweringNode
from moir.lowering.table import BoundHandler, LoweringTable, Replacement
from moir.rewriting.builder import OpBuilder

FLEX = "Flex"
"""The prefix of the kinds of TensorFlow's own operations: FlexErf is TensorFlow's Erf."""


def adapted(kind: str, handler: BoundHandler) -> BoundHandler:
    """The handler of a kind, which refuses complex numbers unless its registration says how it computes with them.

    The attribute T tells whether operands are complex.
    """
    if tflite.complex(kind) is not None:
        return handler

    @wraps(handler)
    def real(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        if isinstance(node.op.properties.get("T"), ComplexType) and not kind.startswith(FLEX):
            node.fail("complex numbers are not supported", hint="write a lowering on pairs of real numbers for this node")
        return handler(node, op)

    return real


class FlexTable(LoweringTable):
    """A lowering table in which the handler of the kind `Flex` is also that of every kind that begins with it.

    A kind such as `FlexErf` is an operation of TensorFlow in a TensorFlow Lite model.
    """

    def handler(self, kind: str, version: int) -> BoundHandler | None:
        handler_of_kind = super().handler(kind, version)
        return super().handler(FLEX, version) if handler_of_kind is None and kind.startswith(FLEX) else handler_of_kind


tflite = FlexTable("tflite", "moir.lowering.tflite", adapt=adapted, implied=frozenset(("T",)))
