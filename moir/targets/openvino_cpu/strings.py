"""Operations that move strings, which the CPU plugin does not execute."""

from __future__ import annotations

from math import prod

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import si32, string
from moir.dialects.moir import add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

MOVING = """
opset1.Broadcast opset1.Concat opset3.Broadcast opset6.GatherElements opset5.GatherND opset8.GatherND opset1.Reverse opset7.Roll
opset3.ScatterElementsUpdate opset12.ScatterElementsUpdate opset4.ScatterNDUpdate opset15.ScatterNDUpdate opset3.ScatterUpdate
opset1.Select opset8.Slice opset1.Split opset1.StridedSlice opset1.Tile opset1.Transpose opset1.VariadicSplit
"""
"""Operations that only move elements, except those that the plugin executes on strings."""

RESHAPING = frozenset(["opset1.Reshape", "opset1.Squeeze", "opset15.Squeeze", "opset1.Unsqueeze"])
"""The operations that the plugin executes on computed strings, if the target shape or the axes are constant."""


class MovedStrings(Pattern):
    """Applies an operation that moves strings to their indices instead, and gathers the strings by the resulting
    indices.

        %1 = opset1.Transpose(%x, [1, 0])                    // %x: strings [2, 3]
    ->  %2 = opset1.Transpose([[0, 1, 2], [3, 4, 5]], [1, 0])
        %1 = opset8.Gather(%x as [6], %2, 0)

    The plugin executes Gather, and Concat of one dimension, on strings, and Reshape, Squeeze and Unsqueeze of computed
    strings by constants; it rejects others, crashes, or returns wrong strings.
    """

    roots = (*MOVING.split(), *sorted(RESHAPING))
    elements = frozenset({string})

    def may_match(self, op: Operation) -> bool:
        if element_of(op.results[0]) is not string:
            return False
        if op.name in RESHAPING:
            is_constant = [isinstance(each.owner, Constant) for each in op.operands]
            return is_constant[0] or not all(is_constant[1:])
        # The plugin concatenates strings of one dimension; this pattern needs them as its base case.
        return not (isinstance(op, Concat) and rank_of(op.results[0]) == 1)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        build = rewriter.op
        first: SSAValue | int = 0
        operands, listed = list(op.operands), list[SSAValue]()
        for index, value in enumerate(op.operands):
            if element_of(value) is string:
                listed.append(_flat(build, value))
                operands[index], first = _numbered(build, value, first)
        strings = build.Concat(*listed, axis=0) if len(listed) > 1 else listed[0]
        moved = build.create(type(op), operands, dict(op.properties), len(op.results))
        rewriter.replace_with(op, [build.Gather(strings, _folded(build, numbers), 0) for numbers in moved.results])


class StringsOfIterations(Pattern):
    """Reports that the plugin does not compile a loop with strings among the values that its iterations exchange."""

    roots = ("opset5.Loop", "opset1.TensorIterator")
    elements = frozenset({string})

    def may_match(self, op: Operation) -> bool:
        return any(element_of(each) is string for each in (*op.operands, *op.results))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        reason = "the CPU plugin has no strings in loops; cut the model after it"
        add_notes(op, [f"the IR will not load because of {op.name} {name_of(op)!r}: {reason}"])


def _flat(op: OpBuilder, strings: SSAValue) -> SSAValue:
    """Strings reshaped to a 1-D tensor; a constant if the strings are constant."""
    if rank_of(strings) == 1:
        return strings
    known = op.known.constant(strings)
    return op.Reshape(strings, [-1], special_zero=False) if known is None else op.constant(known.reshape(-1), string)


def _numbered(op: OpBuilder, strings: SSAValue, first: SSAValue | int) -> tuple[SSAValue, SSAValue | int]:
    """Indices first, first + 1, … in the shape of a tensor of strings, and the index after the last one.

    The latter is a number only if `first` is a number and the shape is static.
    """
    shape = shape_of(strings)
    if shape is not None and is_static(shape) and isinstance(first, int):
        last = first + prod(shape)
        return op.constant(np.arange(first, last, dtype=np.int32).reshape(shape)), last
    begin = op.constant(np.array(first, np.int32)) if isinstance(first, int) else first
    sizes = op.ShapeOf(strings, output_type=si32)
    end = op.Add(begin, op.ReduceProd(sizes, [0], keep_dims=False))
    numbers = op.Range(begin, end, op.constant(np.array(1, np.int32)), output_type=si32)
    return op.Reshape(numbers, sizes, special_zero=False), end


def _folded(op: OpBuilder, value: SSAValue) -> SSAValue:
    """The value as a constant if it can be folded, else the value itself."""
    known = op.known.constant(value)
    return value if known is None else op.constant(known, element_of(value))


FORMS = (
    Form(
        "move-string-indices",
        (MovedStrings, StringsOfIterations),
        "Moves indices in place of strings, then gathers the strings by them.",
        faults=(
            Fault(
                "moved-strings",
                "operations that move strings, but for Gather, Concat, and Reshape of computed strings by a constant",
                "are refused, give other strings, or end the process",
            ),
        ),
    ),
)
