"""`compare-with-infinity`: whether a maximum is minus infinity is asked of all elements.

    %1 = opset1.ReduceMax(%x, [-1]) {keep_dims = true}
    %2 = opset1.Equal(%1, -∞)
->  %3 = opset1.Equal(%x, -∞)
    %2 = opset1.ReduceLogicalAnd(%3, [-1]) {keep_dims = true}

Likewise for a minimum and infinity. Attention asks this of rows whose elements are all masked. The CPU plugin (2026.4)
computes the largest finite number for a maximum or minimum of infinities alone.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.comparison import Equal
from moir.dialects.opset.reduction import ReduceMax, ReduceMin
from moir.dialects.shapes import rank_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

EXTREMES: dict[type[Operation], float] = {ReduceMax: -np.inf, ReduceMin: np.inf}
"""The reductions, and the results that the plugin does not compute."""


class ExtremeIsInfinite(Pattern):
    """Compares the elements instead of their maximum or minimum."""

    roots = (Equal,)
    companions = (tuple(EXTREMES),)

    def may_match(self, op: Operation) -> bool:
        return any(type(operand.owner) in EXTREMES for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        for extreme, other in (op.operands, reversed(op.operands)):
            reduction = extreme.owner
            if isinstance(reduction, ReduceMax | ReduceMin) and _is_all(other, EXTREMES[type(reduction)], rank_of(extreme)):
                infinity = rewriter.op.constant_like(EXTREMES[type(reduction)], reduction.operands[0])
                infinite = rewriter.op.Equal(reduction.operands[0], infinity)
                every = rewriter.op.ReduceLogicalAnd(infinite, reduction.operands[1], keep_dims=reduction.flag("keep_dims"))
                rewriter.replace_with(op, every)
                return


def _is_all(value: SSAValue, number: float, rank: int | None) -> bool:
    """Whether a value is a constant of one element, a number, and of no higher rank than another value."""
    array = constant_of(value)
    return array is not None and array.size == 1 and rank is not None and array.ndim <= rank and bool(array.item() == number)


class CompareWithInfinityPass(PatternPass):
    """Compares elements, instead of their maximum, with infinity."""

    name = "compare-with-infinity"

    def patterns(self) -> list[Pattern]:
        return [ExtremeIsInfinite()]
