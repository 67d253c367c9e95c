"""Operations that move strings, by their numbers: the CPU plugin (2026.4) moves strings in a few operations only.

    %y = onnx.GatherElements(%x, %i)          // %x: strings [2, 3]
->  %0 = opset6.GatherElements([[1, 2, 3], [4, 5, 6]], %i)
    %y = opset8.Gather(opset1.Concat([""], %x as [6]), %0, 0)

Number 0 stands for the empty string, with which tensors are padded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import TypeAlias

from xdsl.ir import SSAValue

from moir.dialects.element_types import string
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

Moving: TypeAlias = Callable[[LoweringNode, OpBuilder], Replacement]


def moves_strings(*operands: int) -> Callable[[Moving], Moving]:
    """Let a handler, which only moves the elements of some operands, move the numbers of strings instead."""

    def decorate(handler: Moving) -> Moving:
        @wraps(handler)
        def moved(node: LoweringNode, op: OpBuilder) -> Replacement:
            present = [index for index in operands if node.optional(index) is not None]
            if not present or node.element(present[0]) != string:
                return handler(node, op)
            if node.text("reduction", "none") != "none":
                node.fail("the runtime orders and adds no strings", hint="cut the model before this node")
            from moir.lowering.onnx.strings.numbering import numbered

            strings, places = numbered(node, op, present)
            found = handler(node.with_operands(places), op)
            values: Sequence[SSAValue | None] = [found] if isinstance(found, SSAValue) else found
            return [None if value is None else op.Gather(strings, value, 0) for value in values]

        return moved

    return decorate


def moves_strings_to_fixed_places(handler: Moving) -> Moving:
    """Let a handler, which only moves the elements of operand 0, move the numbers of strings to computed places.

    The CPU plugin (2026.4) moves strings by constants, and crashes on others and on strings that are a constant.
    """
    moved = moves_strings(0)(handler)

    @wraps(handler)
    def chosen(node: LoweringNode, op: OpBuilder) -> Replacement:
        if node.element(0) != string:
            return handler(node, op)
        others = (index for index in range(1, len(node.op.operands)) if node.optional(index) is not None)
        is_computed = node.constant(0) is not None or any(node.constant(index) is None for index in others)
        return (moved if is_computed else handler)(node, op)

    return chosen
