"""Integers that the CPU plugin computes otherwise."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import INTEGER_TYPES, boolean, describe, si8, si32, si64, ui8, ui32, ui64
from moir.dialects.opset.activation import Relu
from moir.dialects.opset.arithmetic import Add, Divide, FloorMod, Multiply, Power, Subtract
from moir.dialects.opset.comparison import Equal, NotEqual
from moir.dialects.opset.elementwise import Abs, Ceiling, Floor, Negative
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import Einsum, MatMul
from moir.dialects.opset.reduction import ReduceProd, ReduceSum
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

EXACT = 1 << 24
"""f32 has all integers up to this one."""


COUNTING = frozenset(("NonZero", "ShapeOf"))
"""Operations whose results are sizes and places."""


ADDING = frozenset(("Add", "Concat", "Maximum", "Minimum", "Range", "Subtract"))
"""Operations whose results are as large as their operands, or their sums."""


MOVING = frozenset(
    ("Broadcast", "CumSum", "Gather", "GatherElements", "GatherND", "Reshape", "Slice", "Squeeze", "Tile", "Transpose", "Unsqueeze")
)
"""Operations whose results have elements of the first operand, or sums of them."""


NARROW: dict[type[Operation], int | None] = {
    Abs: 1,
    Add: 2,
    Divide: 2,
    Einsum: None,
    FloorMod: 2,
    MatMul: 2,
    Multiply: 2,
    Negative: 1,
    Power: 2,
    ReduceProd: 1,
    ReduceSum: 1,
    Subtract: 2,
}
"""The operations that the plugin computes otherwise in 8 bits, and how many operands have the integers; None: all."""


class ComparisonOfIntegers(Pattern):
    """Compares the difference of two integers with 0.

        %1 = opset1.Equal(%x, %y)                            // integers of 32 or 64 bits
    ->  %2 = opset1.Subtract(%x, %y)
        %1 = opset1.Equal(%2, 0)

    Likewise for NotEqual. The plugin compares integers in f32, which has all of them up to 2²⁴ only; a difference that
    does not fit wraps around, and is 0 for equal operands alone. A comparison with constants up to 2²⁴ is exact as it
    is, and so is one of values that are moved, added or counted from sizes, places and such constants.
    """

    roots = (Equal, NotEqual)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) in (si32, si64, ui32, ui64)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Equal | NotEqual)
        if any(map(_is_small, op.operands)) or all(map(_is_counted, op.operands)):
            return
        difference = rewriter.op.Subtract(*op.operands, auto_broadcast=op.text("auto_broadcast"))
        kind = rewriter.op.Equal if isinstance(op, Equal) else rewriter.op.NotEqual
        rewriter.replace_with(op, kind(difference, rewriter.op.constant_like(0, difference)))


def _is_small(value: SSAValue) -> bool:
    """Whether a value is a constant of integers that f32 has."""
    array = constant_of(value)
    return array is not None and bool((np.abs(array.astype(np.float64)) <= EXACT).all())


def _is_counted(value: SSAValue, depth: int = 10) -> bool:
    """Whether a value consists of places and numbers of elements, which are below 2²⁴, and what is added of them."""
    op = value.owner
    if not isinstance(op, OpsetOp) or not depth:
        return False
    if op.KIND in COUNTING:
        return True
    if op.KIND == "Convert":
        element = element_of(op.operands[0])
        return element == boolean or describe(element).bits <= 16 or _is_counted(op.operands[0], depth - 1)
    if op.KIND in ADDING:
        return all(_is_counted(operand, depth - 1) for operand in op.operands)
    return _is_small(value) or (op.KIND in MOVING and _is_counted(op.operands[0], depth - 1))


class ArithmeticOfNarrowIntegers(Pattern):
    """Computes with 8-bit integers in 32 bits, from which a conversion wraps around.

        %1 = opset1.Add(%x, %y)                              // ui8
    ->  %2 = opset1.Convert(%x) {destination_type = si32}
        %3 = opset1.Convert(%y) {destination_type = si32}
        %4 = opset1.Add(%2, %3)
        %1 = opset1.Convert(%4) {destination_type = ui8}

    The plugin saturates sums, differences, products and powers of 8-bit integers, and rounds their quotients to the
    nearest integer if shapes are dynamic.
    """

    roots = (*NARROW,)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) in (si8, ui8) and element_of(op.operands[0]) in (si8, ui8)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        count, build = NARROW[type(op)], rewriter.op
        operands = [_widened(build, value) if count is None or index < count else value for index, value in enumerate(op.operands)]
        wide = build.create(type(op), operands, dict(op.properties))
        rewriter.replace_with(op, build.convert(wide.results[0], element_of(op.results[0])))


def _widened(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A value in 32 bits; a constant remains one."""
    known = op.known.constant(value)
    return op.convert(value, si32) if known is None else op.constant(known.astype(np.int32), si32)


class FunctionOfIntegers(Pattern):
    """Writes functions of integers that the plugin computes in f32 without it.

        %1 = opset1.Relu(%x)                                 // si32
    ->  %1 = opset1.Maximum(%x, 0)

    Floor and Ceiling of integers are the integers.
    """

    roots = (Relu, Floor, Ceiling)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) in INTEGER_TYPES

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x = op.operands[0]
        rewriter.replace_with(op, rewriter.op.Maximum(x, rewriter.op.constant_like(0, x)) if isinstance(op, Relu) else x)


FORMS = (
    Form("compare-with-zero", "Compares differences of integers with 0.", lambda: [ComparisonOfIntegers()]),
    Form("widen-integers", "Computes with 8-bit integers in 32 bits.", lambda: [ArithmeticOfNarrowIntegers()]),
    Form("bound-integers", "Writes functions of integers without floats.", lambda: [FunctionOfIntegers()]),
)
