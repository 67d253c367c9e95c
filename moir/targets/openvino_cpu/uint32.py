"""Operations on uint32, which the CPU plugin computes as if the operands were int32, or in f32.

They are replaced by operations on si32 of the same bits which the plugin computes exactly: sums, products, shifts and
bitwise operations, but not comparisons.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import f32, si32, ui32
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form
from moir.targets.stages import TYPES

HIGHEST = 31
"""The index of the highest bit."""

SIGN = -(2**31)
"""An integer of which only the highest bit is set."""


def as_signed(build: OpBuilder, value: SSAValue) -> SSAValue:
    """The bits of a value of ui32 as si32; the plugin limits constants of ui32 to 2³¹ - 1."""
    known = constant_of(value)
    return build.convert(value, si32) if known is None else build.constant(known.view(np.int32), si32)


class OperationOfUint32(Pattern):
    """A pattern for operations whose first operand has the type ui32."""

    elements = frozenset((ui32,))

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) == ui32


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
"""Operations whose results have the same bits for signed and unsigned integers."""


def _is_large(value: SSAValue) -> bool:
    known = constant_of(value) if element_of(value) == ui32 else None
    return known is not None and bool((known > np.iinfo(np.int32).max).any())


class LargeUnsignedConstants(Pattern):
    """Reinterprets large constants of ui32, and the operation that uses them, as signed integers.

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
        (result,) = build.create(type(op), operands, dict(op.properties), 1).results
        rewriter.replace_with(op, build.convert(result, element_of(op.results[0])))


class LargeUnsignedResults(Pattern):
    """Stores constants of uint32 above 2³¹ - 1 as int32 and converts them when the model runs.

        %y = opset1.Constant() {value = [2147483653]}        // ui32
    ->  %0 = opset1.Constant() {value = [-2147483643]}       // si32
        %y = opset1.Convert(opset13.BitwiseXor(%0, 0)) {destination_type = ui32}

    The runtime does not fold BitwiseXor.
    """

    roots = (Constant,)
    elements = frozenset((ui32,))

    def may_match(self, op: Operation) -> bool:
        return _is_large(op.results[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        bits = as_signed(build, op.results[0])
        rewriter.replace_with(op, build.Convert(build.BitwiseXor(bits, build.constant(0, si32)), destination_type=ui32))


# Order


def is_below(build: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """A mask: all bits set where x is less than y as unsigned integers, else 0.

    The highest bit of the borrow of x - y is copied to all bits.

    Source: Warren, "Hacker's Delight", 2013, section 2-12.
    """
    equal_bits = build.BitwiseNot(build.BitwiseXor(x, y))
    borrow = build.BitwiseOr(build.BitwiseAnd(build.BitwiseNot(x), y), build.BitwiseAnd(equal_bits, build.Subtract(x, y)))
    return build.BitwiseRightShift(borrow, HIGHEST)


class ComparisonOfUint32(OperationOfUint32):
    """Compares unsigned integers by the borrow of their difference.

        %1 = opset1.Less(%x, %y)                             // ui32
    ->  %2 = BitwiseOr(BitwiseAnd(BitwiseNot(%x), %y), BitwiseAnd(BitwiseNot(BitwiseXor(%x, %y)), Subtract(%x, %y)))
        %1 = opset1.NotEqual(opset15.BitwiseRightShift(%2, 31), 0)
    """

    roots = ("opset1.Less", "opset1.LessEqual", "opset1.Greater", "opset1.GreaterEqual")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        x, y = (as_signed(build, each) for each in op.operands)
        below = is_below(build, y, x) if op.name in ("opset1.Greater", "opset1.LessEqual") else is_below(build, x, y)
        compare = build.NotEqual if op.name in ("opset1.Greater", "opset1.Less") else build.Equal
        rewriter.replace_with(op, compare(below, build.constant(0, si32)))


class ExtremeOfUint32(OperationOfUint32):
    """Selects the larger or the smaller unsigned integer by a mask.

        %1 = opset1.Maximum(%x, %y)                          // ui32
    ->  %1 = BitwiseXor(%x, BitwiseAnd(BitwiseXor(%x, %y), all bits where %x < %y))
    """

    roots = ("opset1.Maximum", "opset1.Minimum")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        x, y = (as_signed(build, each) for each in op.operands)
        takes_second = is_below(build, x, y) if op.name == "opset1.Maximum" else is_below(build, y, x)
        result = build.BitwiseXor(x, build.BitwiseAnd(build.BitwiseXor(x, y), takes_second))
        rewriter.replace_with(op, build.convert(result, ui32))


class TopKOfUint32(OperationOfUint32):
    """Sorts unsigned integers as signed ones with the opposite highest bit.

        %v, %i = opset11.TopK(%x, %k)                        // ui32
    ->  %0, %i = opset11.TopK(BitwiseXor(%x as si32, -2³¹), %k)
        %v = BitwiseXor(%0, -2³¹) as ui32
    """

    roots = ("opset1.TopK", "opset3.TopK", "opset11.TopK")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        build, (x, count) = rewriter.op, op.operands
        flipped = build.BitwiseXor(as_signed(build, x), SIGN)
        values, places = build.create(type(op), [flipped, count], dict(op.properties), 2).results
        rewriter.replace_with(op, [build.convert(build.BitwiseXor(values, SIGN), ui32), places])


# Division


def small_quotient(build: OpBuilder, x: SSAValue, divisor: SSAValue) -> SSAValue:
    """The quotient of integers from 0 to 2³¹ - 1, with a divisor of at least 1.

    The quotient in f32 is corrected by the quotient of the remainder, which is off by at most 1; a last step corrects
    this error, with masks of 0 or -1.
    """
    float_divisor = build.convert(divisor, f32)
    quotient = build.convert(build.Divide(build.convert(x, f32), float_divisor), si32)
    rest = build.Subtract(x, build.Multiply(quotient, divisor))
    correction = build.convert(build.Floor(build.Divide(build.convert(rest, f32), float_divisor)), si32)
    rest = build.Subtract(rest, build.Multiply(correction, divisor))
    quotient = build.Add(quotient, correction)
    is_negative = build.BitwiseRightShift(rest, HIGHEST)
    rest = build.Add(rest, build.BitwiseAnd(is_negative, divisor))
    goes_in = build.BitwiseNot(build.BitwiseRightShift(build.Subtract(rest, divisor), HIGHEST))
    return build.Subtract(build.Add(quotient, is_negative), goes_in)


def quotient_of_uint32(build: OpBuilder, x: SSAValue, divisor: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The quotient and the remainder of unsigned integers, given and returned as their bits in si32.

    Half of x, whose highest bit is 0, is divided; the quotient is doubled and corrected. If the highest bit of the
    divisor is 1, the uncorrected quotient is 0.

    Source: Warren, "Hacker's Delight", 2013, section 9-3.
    """
    half = build.BitwiseAnd(build.BitwiseRightShift(x, 1), 2**31 - 1)
    quotient = small_quotient(build, half, divisor)
    quotient = build.Add(quotient, quotient)
    rest = build.Subtract(x, build.Multiply(quotient, divisor))
    known = constant_of(divisor)
    if known is None or bool((known < 0).any()):
        is_large = build.BitwiseRightShift(divisor, HIGHEST)
        quotient = build.BitwiseAnd(quotient, build.BitwiseNot(is_large))
        rest = build.BitwiseXor(rest, build.BitwiseAnd(build.BitwiseXor(rest, x), is_large))
    goes_in = build.BitwiseNot(is_below(build, rest, divisor))
    return build.Subtract(quotient, goes_in), build.Subtract(rest, build.BitwiseAnd(divisor, goes_in))


class DivisionOfUint32(OperationOfUint32):
    """Divides uint32 by a quotient in f32 that is corrected twice.

        %1 = opset1.Mod(%x, %n)                              // ui32
    ->  %2 = Convert(Divide(half of %x as f32, %n as f32))
        %1 = %x - 2 · corrected %2 · %n, less %n where it is not less than %n
    """

    roots = ("opset1.Divide", "opset1.Mod", "opset1.FloorMod")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build = rewriter.op
        x, divisor = (as_signed(build, each) for each in op.operands)
        quotient, rest = quotient_of_uint32(build, x, divisor)
        rewriter.replace_with(op, build.convert(quotient if op.name == "opset1.Divide" else rest, ui32))


FORMS = (
    Form(
        "compute-uint32-as-int32",
        (LargeUnsignedConstants, ShiftOfUnsignedIntegers),
        "Computes with uint32 as with int32 of the same bits.",
        after=("compare-uint32", "divide-uint32"),
        faults=(
            Fault(
                "u32-operand",
                "Add, Subtract, Multiply, Equal, Select, Concat and bitwise operations with a constant of u32",
                "numbers from 2³¹ on become 2³¹ - 1",
            ),
            Fault("u32-shift", "BitwiseRightShift of u32", "copies the highest bit of numbers from 2³¹ on"),
        ),
    ),
    Form(
        "compare-uint32",
        (ComparisonOfUint32, ExtremeOfUint32, TopKOfUint32),
        "Compares and sorts uint32 by bitwise operations on int32.",
        faults=(Fault("u32-order", "Maximum, Minimum, comparisons and TopK of u32", "numbers from 2³¹ on count as negative"),),
    ),
    Form(
        "divide-uint32",
        (DivisionOfUint32,),
        faults=(Fault("u32-quotient", "Divide, Mod and FloorMod of u32", "is computed in f32, and numbers from 2³¹ on count as negative"),),
    ),
    Form(
        "convert-uint32-constants",
        (LargeUnsignedResults,),
        stage=TYPES,
        after=("convert-in-steps",),
        faults=(Fault("u32-constant", "a constant of u32", "numbers from 2³¹ on become 2³¹ - 1"),),
    ),
)
