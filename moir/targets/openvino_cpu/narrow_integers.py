"""Arithmetic of 8-bit integers, which the CPU plugin saturates instead of wrapping around."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.dialects.element_types import si8, si32, ui8
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.tables import by_word
from moir.targets.record import Form

NARROW: dict[str, int | None] = by_word(
    {
        "opset1.Abs opset1.Negative opset1.ReduceProd opset1.ReduceSum": 1,
        "opset1.Add opset1.Divide opset1.FloorMod opset1.MatMul opset1.Multiply opset1.Power opset1.Subtract": 2,
        "opset7.Einsum": None,
    }
)
"""The operations that the plugin computes wrongly in 8 bits, and the number of their 8-bit operands; None for all."""


class ArithmeticOfNarrowIntegers(Pattern):
    """Computes arithmetic of 8-bit integers in 32 bits and converts the result back, which wraps around.

        %1 = opset1.Add(%x, %y)                              // ui8
    ->  %2 = opset1.Convert(%x) {destination_type = si32}
        %3 = opset1.Convert(%y) {destination_type = si32}
        %4 = opset1.Add(%2, %3)
        %1 = opset1.Convert(%4) {destination_type = ui8}

    The plugin saturates sums, differences, products and powers of 8-bit integers, and rounds their quotients to the
    nearest integer if shapes are dynamic.
    """

    roots = (*NARROW,)
    elements = frozenset({si8, ui8})

    def may_match(self, op: Operation) -> bool:
        element = element_of(op.results[0])
        return type(element) is IntegerType and element in (si8, ui8) and element_of(op.operands[0]) in (si8, ui8)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        count, build = NARROW[op.name], rewriter.op
        operands = [_widened(build, value) if count is None or index < count else value for index, value in enumerate(op.operands)]
        wide = build.create(type(op), operands, dict(op.properties))
        rewriter.replace_with(op, build.convert(wide.results[0], element_of(op.results[0])))


def _widened(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value converted to 32 bits; a constant is converted at once."""
    known = op.known.constant(value)
    return op.convert(value, si32) if known is None else op.constant(known.astype(np.int32), si32)


FORMS = (Form("widen-integers", (ArithmeticOfNarrowIntegers,)),)
