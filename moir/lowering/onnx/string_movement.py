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

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, string
from moir.dialects.shapes import element_count, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.table import Replacement
from moir.lowering.texts import flat
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
            strings = _numbered(node, op, present)
            found = handler(node, op)
            values: Sequence[SSAValue | None] = [found] if isinstance(found, SSAValue) else found
            return [None if value is None else op.Gather(strings, value, 0) for value in values]

        return moved

    return decorate


def _numbered(node: LoweringNode, op: OpBuilder, operands: Sequence[int]) -> SSAValue:
    """The list of the strings of some operands, behind an empty one; places in it replace the operands."""
    parts = [op.constant(np.array([""], dtype=object), string)]
    first: int | SSAValue = 1
    for index in operands:
        value = node.operand(index)
        parts.append(flat(op, value))
        shape = shape_of(value)
        size = element_count(shape)
        if isinstance(first, int) and shape is not None and size is not None:
            numbers = op.constant(np.arange(first, first + size).reshape(shape))
            first += size
        else:
            stop = op.Add(op.ReduceProd(op.ShapeOf(value), [0], keep_dims=False), first)
            numbers = op.Reshape(op.Range(first, stop, 1, output_type=si64), op.ShapeOf(value), special_zero=False)
            first = stop
        node.op.operands[index] = numbers
    return op.Concat(*parts, axis=0)
