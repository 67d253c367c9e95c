"""Operations that move strings, by their numbers: the CPU plugin (2026.4) moves strings in a few operations only.

    %y = onnx.GatherElements(%x, %i)          // %x: strings [2, 3]
->  %0 = opset6.GatherElements([[1, 2, 3], [4, 5, 6]], %i)
    %y = opset8.Gather(opset1.Concat([""], %x as [6]), %0, 0)

Number 0 stands for the empty string, with which tensors are padded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.element_types import string
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import bound
from moir.lowering.table import BoundHandler, Replacement
from moir.rewriting.builder import OpBuilder


def moves_strings(*operands: int) -> Callable[[Callable[..., Any]], BoundHandler]:
    """A decorator: a handler that only moves the elements of some operands moves the numbers of their strings
    instead.
    """

    def decorate(handler: Callable[..., Any]) -> BoundHandler:
        lower: BoundHandler = bound(handler)

        @wraps(handler)
        def moved(node: LoweringNode, op: OpBuilder) -> Replacement | None:
            present = [index for index in operands if node.optional(index) is not None]
            if not present or node.element(present[0]) != string:
                return lower(node, op)
            if node.text("reduction", "none") != "none":
                node.fail("the runtime orders and adds no strings", hint="cut the model before this node")
            from moir.lowering.onnx.strings.numbering import numbered

            strings, places = numbered(node, op, present)
            found = lower(node.with_operands(places), op)
            if found is None:
                return None
            values: Sequence[SSAValue | None] = [found] if isinstance(found, SSAValue) else found
            return [None if value is None else op.Gather(strings, value, 0) for value in values]

        return moved

    return decorate


def moves_strings_to_fixed_places(handler: Callable[..., Any]) -> BoundHandler:
    """A decorator: a handler that only moves the elements of operand 0 moves the numbers of its strings, if the places
    are computed.

    The CPU plugin (2026.4) moves strings to constant places; it crashes if the places are computed or the strings are
    a constant.
    """
    moved = moves_strings(0)(handler)
    lower: BoundHandler = bound(handler)

    @wraps(handler)
    def chosen(node: LoweringNode, op: OpBuilder) -> Replacement | None:
        if node.element(0) != string:
            return lower(node, op)
        others = (index for index in range(1, len(node.op.operands)) if node.optional(index) is not None)
        is_computed = node.constant(0) is not None or any(node.constant(index) is None for index in others)
        return (moved if is_computed else lower)(node, op)

    return chosen
