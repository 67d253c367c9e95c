"""Comparisons that the CPU plugin computes wrongly."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.element_types import INTEGER_TYPES, boolean, describe, si32, si64, ui32, ui64
from moir.dialects.extension import ExtensionOp
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import AVX_512, Fault, Form


class ComparisonOfFloats(Pattern):
    """Reverses a comparison of floats that the plugin computes wrongly for NaN.

        %1 = opset1.Greater(%x, %y)
    ->  %1 = opset1.Less(%y, %x)

    The plugin computes Greater as the negation of LessEqual, so that its result for NaN is true instead of false.
    """

    roots = ("opset1.Greater", "opset1.GreaterEqual")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        if element_of(op.operands[0]) in INTEGER_TYPES | {boolean} or op.text("auto_broadcast") == "pdpd":
            return
        kind = rewriter.op.Less if op.KIND == "Greater" else rewriter.op.LessEqual
        rewriter.replace_with(op, kind(op.operands[1], op.operands[0], auto_broadcast=op.text("auto_broadcast")))


EXTREMES: dict[str, float] = {"opset1.ReduceMax": -np.inf, "opset1.ReduceMin": np.inf}
"""For each reduction, the infinity that the plugin does not return."""


class ExtremeIsInfinite(Pattern):
    """Compares the elements, instead of their maximum or minimum, with infinity.

        %1 = opset1.ReduceMax(%x, [-1]) {keep_dims = true}
        %2 = opset1.Equal(%1, -∞)
    ->  %3 = opset1.Equal(%x, -∞)
        %2 = opset1.ReduceLogicalAnd(%3, [-1]) {keep_dims = true}

    Likewise for a minimum and infinity. Attention makes this comparison for rows whose elements are all masked. The
    plugin returns the largest finite number as the maximum or minimum of elements that are all infinite.
    """

    roots = ("opset1.Equal",)
    companions = (tuple(EXTREMES),)

    def may_match(self, op: Operation) -> bool:
        return any(_is_extreme(operand) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for extreme, other in (op.operands, reversed(op.operands)):
            reduction = extreme.owner
            if isinstance(reduction, OpsetOp) and _is_extreme(extreme) and _is_all(other, EXTREMES[reduction.name], rank_of(extreme)):
                infinity = rewriter.op.constant_like(EXTREMES[reduction.name], reduction.operands[0])
                infinite = rewriter.op.Equal(reduction.operands[0], infinity)
                every = rewriter.op.ReduceLogicalAnd(infinite, reduction.operands[1], keep_dims=reduction.flag("keep_dims"))
                rewriter.replace_with(op, every)
                return


def _is_extreme(value: SSAValue) -> bool:
    """Whether a value is the result of a ReduceMax or ReduceMin."""
    return isinstance(value.owner, OpsetOp) and value.owner.name in EXTREMES


def _is_all(value: SSAValue, number: float, rank: int | None) -> bool:
    """Whether a value is a constant with one element, which equals `number`, and its rank is at most `rank`.

    False if `rank` is None (a dynamic rank).
    """
    array = constant_of(value)
    return array is not None and array.size == 1 and rank is not None and array.ndim <= rank and bool(array.item() == number)


EXACT = 1 << 24
"""Every integer up to this one is exact in f32."""


COUNTING = frozenset(("NonZero", "ShapeOf"))
"""Operations whose results are sizes or indices."""


ADDING = frozenset(("Add", "Concat", "Maximum", "Minimum", "Range", "Subtract"))
"""Operations each element of whose results is at most the sum of the largest elements of the operands."""


SUMMING = frozenset(("CumSum", "Gather"))
"""Operations whose results are elements of the first operand, sums of such elements, or 0."""


class ComparisonOfIntegers(Pattern):
    """Compares the difference of two integers with 0.

        %1 = opset1.Equal(%x, %y)                            // integers of 32 or 64 bits
    ->  %2 = opset1.Subtract(%x, %y)
        %1 = opset1.Equal(%2, 0)

    Likewise for NotEqual. The plugin compares integers in f32, in which integers beyond 2²⁴ are rounded. A difference
    that overflows wraps around, so it is 0 for equal operands only. Comparisons with constants up to 2²⁴ stay because
    they are exact, as do comparisons of values that are computed from sizes, indices and such constants by moving and
    adding elements.
    """

    roots = ("opset1.Equal", "opset1.NotEqual")

    def may_match(self, op: Operation) -> bool:
        return element_of(op.operands[0]) in (si32, si64, ui32, ui64)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        if any(map(_is_small, op.operands)) or all(map(_is_counted, op.operands)):
            return
        difference = rewriter.op.Subtract(*op.operands, auto_broadcast=op.text("auto_broadcast"))
        kind = getattr(rewriter.op, op.KIND)
        rewriter.replace_with(op, kind(difference, rewriter.op.constant_like(0, difference)))


class TruthOfIntegers(Pattern):
    """Compares integers with 0 instead of converting them to booleans.

        %1 = opset1.Convert(%x) {destination_type = boolean} // integers of 32 or 64 bits
    ->  %1 = opset1.NotEqual(%x, 0)

    The plugin converts -2³¹, or 2³¹ of an unsigned type, to false.
    """

    roots = ("opset1.Convert",)

    def may_match(self, op: Operation) -> bool:
        data, result = op.operands[0], op.results[0]
        return element_of(result) == boolean and element_of(data) in (si32, si64, ui32, ui64) and not isinstance(data.owner, ExtensionOp)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data = op.operands[0]
        rewriter.replace_with(op, rewriter.op.NotEqual(data, rewriter.op.constant_like(0, data)))


def _is_small(value: SSAValue) -> bool:
    """Whether a value is a constant of integers of a magnitude up to 2²⁴, which are exact in f32."""
    array = constant_of(value)
    return array is not None and bool((np.abs(array.astype(np.float64)) <= EXACT).all())


def _is_counted(value: SSAValue, depth: int = 10) -> bool:
    """Whether a value is computed only from sizes, indices and small constants, by operations that move or add
    elements.

    Sizes and indices are below 2²⁴. `depth` limits the number of operations looked through; False beyond it.
    """
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
    return _is_small(value) or ((op.MOVES or op.KIND in SUMMING) and _is_counted(op.operands[0], depth - 1))


class SelectOfBooleans(Pattern):
    """Replaces a Select between booleans by logical operations if its condition is constant.

        %y = opset1.Select(%c, %a, %b)                       // %c: a constant; booleans
    ->  %y = opset1.LogicalOr(opset1.LogicalAnd(%c, %a), opset1.LogicalAnd(opset1.LogicalNot(%c), %b))

    The plugin does not compile a Select whose constant condition is also one of its other operands.
    """

    roots = ("opset1.Select",)

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) == boolean and constant_of(op.operands[0]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        (condition, a, b), build = op.operands, rewriter.op
        if op.text("auto_broadcast") != "pdpd":
            other = build.LogicalAnd(build.LogicalNot(condition), b)
            rewriter.replace_with(op, build.LogicalOr(build.LogicalAnd(condition, a), other))


class SelectOfExtensions(Pattern):
    """Converts i64 results of an extension's operation to i32 and back where a Select reads them.

        %h = extension.StringToHashBucket(…)                 // si64
        %y = opset1.Select(%c, %h, %a)
    ->  %y = opset1.Select(%c, %h as si32 as si64, %a)

    The plugin computes i64 in i32: it converts these results before the Select, but changes the other operand only
    later, and rejects the Select because its operands have two element types.
    """

    roots = ("opset1.Select",)
    elements = frozenset({si64})

    def may_match(self, op: Operation) -> bool:
        return element_of(op.results[0]) == si64 and any(isinstance(each.owner, ExtensionOp) for each in op.operands[1:])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        build = rewriter.op
        operands = [
            build.convert(build.convert(each, si32), si64) if isinstance(each.owner, ExtensionOp) and element_of(each) == si64 else each
            for each in op.operands
        ]
        rewriter.replace_with(op, build.create(type(op), operands, dict(op.properties)).results[0])


FORMS = (
    Form(
        "reverse-comparisons",
        (ComparisonOfFloats,),
        faults=(
            Fault(
                "comparison-nan",
                "Greater and GreaterEqual of floats",
                "are the negation of LessEqual and Less, and so hold for NaN",
                feature=AVX_512,
            ),
        ),
    ),
    Form(
        "compare-with-infinity",
        (ExtremeIsInfinite,),
        after=("compare-uint32",),
        faults=(
            Fault("maximum-is-infinite", "whether ReduceMax is minus infinity, or ReduceMin infinity", "is false, as they are ∓3.4e38"),
        ),
    ),
    Form(
        "select-by-logic",
        (SelectOfBooleans,),
        after=(
            "count-unsliced-iterations",
            "select-pad-values",
        ),
        faults=(Fault("select-constants", "Select of booleans by a constant, which is also what is chosen", "is not compiled"),),
    ),
    Form(
        "convert-selected-extensions",
        (SelectOfExtensions,),
        faults=(Fault("extension-choice", "Select of a result of i64 of an extension's operation", "is not compiled"),),
    ),
    Form(
        "compare-with-zero",
        (ComparisonOfIntegers, TruthOfIntegers),
        "Compares differences of integers, and their truth, with 0.",
        after=(
            "compare-uint32",
            "compute-uint32-as-int32",
        ),
        faults=(
            Fault("truth-of-smallest", "Convert of integers of 32 or 64 bits to boolean", "is false for -2³¹, and for 2³¹ without a sign"),
            Fault("i32-equality", "Equal and NotEqual of integers", "are computed in f32, which is exact up to 2²⁴"),
        ),
    ),
)
