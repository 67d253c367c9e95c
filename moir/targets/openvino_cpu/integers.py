"""Functions of integers that the CPU plugin computes in f32, with rounding errors, or as if they had a sign."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from moir.dialects.element_types import si32, ui32
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


class ShiftOfUnsignedIntegers(Pattern):
    """Shifts unsigned integers of 32 bits as signed ones, and clears the copies of the sign that enter on the left.

        %1 = opset15.BitwiseRightShift(%x, %n)               // ui32
    ->  %2 = opset15.BitwiseRightShift(%x as si32, %n)
        %1 = opset13.BitwiseAnd(%2, not(-2 << (31 - %n))) as ui32
    """

    roots = ("opset15.BitwiseRightShift",)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) == ui32

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (x, count) = rewriter.op, op.operands
        word, places = build.convert(x, si32), build.convert(count, si32)
        mask = build.BitwiseNot(build.BitwiseLeftShift(build.constant_like(-2, word), build.Subtract(31, places)))
        rewriter.replace_with(op, build.convert(build.BitwiseAnd(build.BitwiseRightShift(word, places), mask), ui32))


FORMS = (
    Form("bound-integers", "Writes functions of integers without floats.", lambda: [FunctionOfIntegers()]),
    Form("shift-words", "Shifts unsigned integers of 32 bits without their sign.", lambda: [ShiftOfUnsignedIntegers()]),
)
