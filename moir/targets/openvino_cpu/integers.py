"""Functions of integers that the CPU plugin computes in f32, as if they had a sign, or of the bounds of sizes."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.integral_bounds import integral_bounds
from moir.analysis.sources import is_computed_of
from moir.dialects.element_types import si32, ui32
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of
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
    elements = frozenset((ui32,))

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) == ui32

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (x, count) = rewriter.op, op.operands
        word, places = build.convert(x, si32), build.convert(count, si32)
        mask = build.BitwiseNot(build.BitwiseLeftShift(build.constant_like(-2, word), build.Subtract(31, places)))
        rewriter.replace_with(op, build.convert(build.BitwiseAnd(build.BitwiseRightShift(word, places), mask), ui32))


UNSIGNED_ALIKE = (
    *("opset1.Add", "opset1.Subtract", "opset1.Multiply", "opset1.Equal", "opset1.NotEqual", "opset1.Select", "opset1.Concat"),
    *("opset13.BitwiseAnd", "opset13.BitwiseOr", "opset13.BitwiseXor", "opset15.BitwiseLeftShift"),
)
"""Operations whose results have the same bits for integers with and without a sign."""


def _is_large(value: SSAValue) -> bool:
    known = constant_of(value) if element_of(value) == ui32 else None
    return known is not None and bool((known > np.iinfo(np.int32).max).any())


class LargeUnsignedConstants(Pattern):
    """Computes with the bits of large constants as integers with a sign.

        %y = opset1.Multiply(%x, 3528531795)                 // ui32
    ->  %y = opset1.Multiply(%x as si32, -766435501) as ui32
    """

    roots = UNSIGNED_ALIKE
    elements = frozenset((ui32,))

    def may_match(self, op: Operation) -> bool:
        return any(map(_is_large, op.operands))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        build, operands = rewriter.op, list(op.operands)
        for index, value in enumerate(operands):
            known = constant_of(value)
            if element_of(value) == ui32:
                operands[index] = build.convert(value, si32) if known is None else build.constant(known.view(np.int32), si32)
        (found,) = build.create(type(op), operands, dict(op.properties), 1).results
        rewriter.replace_with(op, build.convert(found, element_of(op.results[0])))


class RemainderOfSizes(Pattern):
    """Computes remainders of sizes by operations that the runtime does not fold, without FloorMod.

        %1 = opset1.FloorMod(%size, %n)
    ->  %2 = opset1.Mod(%size, %n)
        %1 = opset1.Mod(opset1.Add(%2, %n), %n)

    Where neither number is negative, the first remainder is that of FloorMod.

    If the result is used as a size, the runtime replaces FloorMod of a dimension by a constant if the remainders of
    both bounds are equal, although sizes between the bounds have other remainders.
    """

    roots = ("opset1.FloorMod",)

    def may_match(self, op: Operation) -> bool:
        return type(element_of(op.results[0])) is IntegerType and is_computed_of(op.operands[0], "ShapeOf", _is_list, is_end=True)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (size, divisor) = rewriter.op, op.operands
        bounds = [integral_bounds(value) for value in (size, divisor)]
        remainder = build.Mod(size, divisor)
        if any(each is None or each[0] < 0 for each in bounds):
            remainder = build.Mod(build.Add(remainder, divisor), divisor)
        rewriter.replace_with(op, remainder)


def _is_list(op: OpsetOp) -> bool:
    """Whether the first result of an operation is a list or a scalar."""
    return bool(op.results) and rank_of(op.results[0]) in (0, 1)


FORMS = (
    Form("bound-integers", (FunctionOfIntegers,)),
    Form("compute-remainders", (RemainderOfSizes,)),
    Form("shift-words", (LargeUnsignedConstants, ShiftOfUnsignedIntegers), "Computes with 32-bit unsigned integers as signed ones."),
)
