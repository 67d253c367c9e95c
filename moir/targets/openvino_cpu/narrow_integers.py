"""Arithmetic of integers of 8 bits and of unsigned integers, which do not wrap around in the CPU plugin."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

import numpy as np
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, describe, si8, si32, ui8
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.support.tables import by_word
from moir.targets.record import Fault, Form

NARROW: dict[str, int | None] = by_word(
    {
        "opset1.Abs opset1.Negative opset1.ReduceProd opset1.ReduceSum": 1,
        "opset1.Convolution opset1.ConvolutionBackpropData opset1.GroupConvolution opset1.GroupConvolutionBackpropData": 2,
        "opset1.Add opset1.Divide opset1.FloorMod opset1.MatMul opset1.Multiply opset1.Power opset1.Subtract": 2,
        "opset7.Einsum": None,
    }
)
"""The operations that the plugin computes wrongly in 8 bits, each with the number of its 8-bit operands; None for all
operands.
"""

UNSIGNED: AbstractSet[Attribute] = frozenset(each for each in INTEGER_TYPES if describe(each).xml.startswith("u"))


class ArithmeticOfNarrowIntegers(Pattern):
    """Computes arithmetic of 8-bit integers in 32 bits and converts the result back, which wraps around.

        %1 = opset1.Add(%x, %y)                              // ui8
    ->  %2 = opset1.Convert(%x) {destination_type = si32}
        %3 = opset1.Convert(%y) {destination_type = si32}
        %4 = opset1.Add(%2, %3)
        %1 = opset1.Convert(%4) {destination_type = ui8}

    The plugin saturates sums, differences, products, convolutions and powers of 8-bit integers, and rounds their
    quotients to the nearest integer if shapes are dynamic.
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
    """A value converted to 32 bits; a constant is replaced by the converted constant."""
    known = op.known.constant(value)
    return op.convert(value, si32) if known is None else op.constant(known.astype(np.int32), si32)


class NegativeOfUnsignedIntegers(Pattern):
    """Subtracts unsigned integers from 0.

        %y = opset1.Negative(%x)                             // ui16
    ->  %y = opset1.Subtract(0, %x)

    The plugin does not compile their Negative, which it replaces by a product with -1.
    """

    roots = ("opset1.Negative",)
    elements = UNSIGNED

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) in UNSIGNED

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x, build = op.operands[0], rewriter.op
        rewriter.replace_with(op, build.Subtract(build.constant_like(0, x), x))


FORMS = (
    Form(
        "subtract-from-zero",
        (NegativeOfUnsignedIntegers,),
        faults=(Fault("unsigned-negative", "Negative of integers without a sign", "is not compiled"),),
    ),
    Form(
        "widen-integers",
        (ArithmeticOfNarrowIntegers,),
        after=("simplify-matmul", "subtract-from-zero"),
        faults=(
            Fault(
                "i8-arithmetic",
                "Add, Subtract, Multiply, Power, Abs, Negative, ReduceSum and MatMul of 8-bit integers",
                "saturates instead of wrapping around; quotients are rounded to the nearest integer if shapes are dynamic",
            ),
        ),
    ),
)
