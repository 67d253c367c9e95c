"""Functions of integers that the CPU plugin computes in f32, as if they had a sign, or of the bounds of sizes."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.sources import MOST_VALUES, is_computed_of
from moir.dialects.element_types import si32, ui32
from moir.dialects.opset.comparison import ComparisonOp
from moir.dialects.opset.infrastructure import Constant
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


class SelectOfWords(Pattern):
    """Selects between words by masks where a comparison of integers says which one.

        %c = opset1.Greater(%x, %y)                          // integers
        %1 = opset1.Select(%c, %a, %b)                       // %a: of a bitwise operation
    ->  %m = opset1.Subtract(0, %c as si32)
        %1 = opset13.BitwiseXor(%b, opset13.BitwiseAnd(opset13.BitwiseXor(%a, %b), %m))

    The plugin computes such a Select together with its comparison in f32, which rounds integers beyond 2²⁴. These are
    expected of bitwise operations and of large constants; masks are slower than a Select.
    """

    roots = ("opset1.Select",)
    elements = frozenset((si32, ui32))

    def may_match(self, op: Operation) -> bool:
        condition = op.operands[0].owner
        if element_of(op.results[0]) not in (si32, ui32) or not isinstance(condition, ComparisonOp):
            return False
        return type(element_of(condition.operands[0])) is IntegerType and any(map(_is_word, op.operands[1:]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (condition, a, b) = rewriter.op, op.operands
        mask = build.Subtract(0, build.convert(condition, element_of(a)))
        rewriter.replace_with(op, build.BitwiseXor(b, build.BitwiseAnd(build.BitwiseXor(a, b), mask)))


def _is_word(value: SSAValue) -> bool:
    """Whether integers beyond 2²⁴ are likely: a large constant, or what is computed of bitwise operations."""
    remaining, seen = [value], {value}
    while remaining and len(seen) < MOST_VALUES:
        owner = remaining.pop().owner
        if isinstance(owner, Constant):
            known = constant_of(owner.results[0])
            if known is not None and known.size and (int(known.min()) < -EXACT or int(known.max()) > EXACT):
                return True
        elif isinstance(owner, OpsetOp):
            if "Bitwise" in owner.KIND:
                return True
            if owner.KIND in _OF_WORDS:
                following = [each for each in owner.operands if each not in seen and element_of(each) in (si32, ui32)]
                seen.update(following)
                remaining += following
    return False


EXACT = 2**24
"""The integers up to this one are exact in f32."""

_OF_WORDS = frozenset(("Add", "Subtract", "Multiply", "Select", "Convert", "Reshape", "Transpose", "Concat", "Broadcast"))
"""Operations whose integers are as large as those of their operands."""


class RemainderOfSizes(Pattern):
    """Computes remainders of sizes by operations that the runtime does not fold, without FloorMod.

        %1 = opset1.FloorMod(%size, %n)
    ->  %2 = opset1.Mod(%size, %n)
        %1 = opset1.Mod(opset1.Add(%2, %n), %n)

    If the result is used as a size, the runtime replaces FloorMod of a dimension by a constant if the remainders of
    both bounds are equal, although sizes between the bounds have other remainders.
    """

    roots = ("opset1.FloorMod",)

    def may_match(self, op: Operation) -> bool:
        return type(element_of(op.results[0])) is IntegerType and is_computed_of(op.operands[0], "ShapeOf", _is_list, is_end=True)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (size, divisor) = rewriter.op, op.operands
        rewriter.replace_with(op, build.Mod(build.Add(build.Mod(size, divisor), divisor), divisor))


def _is_list(op: OpsetOp) -> bool:
    """Whether the first result of an operation is a list or a scalar."""
    return bool(op.results) and rank_of(op.results[0]) in (0, 1)


FORMS = (
    Form("bound-integers", (FunctionOfIntegers,)),
    Form("mask-words", (SelectOfWords,)),
    Form("compute-remainders", (RemainderOfSizes,)),
    Form("shift-words", (LargeUnsignedConstants, ShiftOfUnsignedIntegers), "Computes with 32-bit unsigned integers as signed ones."),
)
