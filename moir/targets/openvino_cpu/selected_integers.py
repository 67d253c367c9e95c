"""Selects of 32-bit integers beyond 2²⁴, which the CPU plugin computes in f32."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.analysis.sources import MOST_VALUES
from moir.dialects.element_types import si32, ui32
from moir.dialects.opset.comparison import ComparisonOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

EXACT = 2**24
"""The integers up to this one are exact in f32."""

_KEEPING_MAGNITUDE = frozenset(("Add", "Subtract", "Multiply", "Select", "Convert", "Reshape", "Transpose", "Concat", "Broadcast"))
"""Operations whose results are likely to exceed 2²⁴ only if an operand does."""


class SelectOfIntegers(Pattern):
    """Computes a Select of 32-bit integers whose condition is a comparison of integers by a bit mask.

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
        return type(element_of(condition.operands[0])) is IntegerType and any(map(_may_exceed_f32, op.operands[1:]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        build, (condition, a, b) = rewriter.op, op.operands
        mask = build.Subtract(0, build.convert(condition, element_of(a)))
        rewriter.replace_with(op, build.BitwiseXor(b, build.BitwiseAnd(build.BitwiseXor(a, b), mask)))


def _may_exceed_f32(value: SSAValue) -> bool:
    """Whether a value may hold integers beyond 2²⁴: it is a large constant, or computed from bitwise operations."""
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
            if owner.KIND in _KEEPING_MAGNITUDE:
                following = [each for each in owner.operands if each not in seen and element_of(each) in (si32, ui32)]
                seen.update(following)
                remaining += following
    return False


FORMS = (
    Form(
        "select-int-by-mask",
        (SelectOfIntegers,),
        faults=(
            Fault(
                "selected-words",
                "Select of integers that bitwise operations compute, or beyond 2²⁴, where a comparison of other integers holds",
                "is computed in f32",
            ),
        ),
    ),
)
