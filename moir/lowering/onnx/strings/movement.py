"""Operations that move strings, by their indices: opset11.Interpolate, opset12.Pad and others have no strings.

    %y = onnx.GatherElements(%x, %i)          // %x: strings [2, 3]
->  %0 = opset6.GatherElements([[1, 2, 3], [4, 5, 6]], %i)
    %y = opset8.Gather(opset1.Concat([""], %x as [6]), %0, 0)

Index 0 is the empty string, with which tensors are padded.
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
    """A decorator for handlers that only move elements of the operands with these indices.

    If they are strings, the handler is applied to indices of the strings instead, and the strings are gathered by the
    result.
    """

    def decorate(handler: Callable[..., Any]) -> BoundHandler:
        lower: BoundHandler = bound(handler)

        @wraps(handler)
        def moved(node: LoweringNode, op: OpBuilder) -> Replacement | None:
            present = [index for index in operands if node.optional(index) is not None]
            if not present or node.element(present[0]) != string:
                return lower(node, op)
            if node.text("reduction", "none") != "none":
                node.fail("the operation sets order and add no strings", hint="cut the model before this node")
            from moir.lowering.onnx.strings.numbering import numbered

            strings, index_operands = numbered(node, op, present)
            results = lower(node.with_operands(index_operands), op)
            if results is None:
                return None
            values: Sequence[SSAValue | None] = [results] if isinstance(results, SSAValue) else results
            return [None if value is None else op.Gather(strings, value, 0) for value in values]

        return moved

    return decorate
