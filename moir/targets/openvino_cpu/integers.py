"""Functions of integers that the CPU plugin computes in f32, with rounding errors."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class FunctionOfIntegers(Pattern):
    """Replaces functions of integers that the plugin computes in f32 by exact integer operations.

        %1 = opset1.Relu(%x)                                 // si32
    ->  %1 = opset1.Maximum(%x, 0)

    Floor and Ceiling of integers are replaced by their operand.
    """

    roots = ("opset1.Relu", "opset1.Floor", "opset1.Ceiling")

    def may_match(self, op: Operation) -> bool:
        return type(element_of(op.results[0])) is IntegerType

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x = op.operands[0]
        rewriter.replace_with(op, rewriter.op.Maximum(x, rewriter.op.constant_like(0, x)) if op.name == "opset1.Relu" else x)


FORMS = (Form("bound-integers", "Writes functions of integers without floats.", lambda: [FunctionOfIntegers()]),)
