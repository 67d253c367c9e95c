"""`fuse-fake-quantize`: removes clamps before a FakeQuantize that has tighter limits, and moves FakeQuantizes from the
operands of a Concat to its result.

    %1 = opset1.FakeQuantize(opset1.Relu(%0), 0.0, 6.0, 0.0, 6.0) {levels = 256}
->  %1 = opset1.FakeQuantize(%0, 0.0, 6.0, 0.0, 6.0) {levels = 256}

    %1 = opset1.FakeQuantize(%a, %low, %high, %low, %high) {levels = 256}
    %2 = opset1.FakeQuantize(%b, %low, %high, %low, %high) {levels = 256}
    %3 = opset1.Concat(%1, %2, %c)                    // %c: rounded by such a FakeQuantize, too, and moved since
->  %3 = opset1.FakeQuantize(opset1.Concat(%a, %b, %c), %low, %high, %low, %high) {levels = 256}

Also a Clamp, Maximum or Minimum whose limits are not within the input range of the FakeQuantize is left out. Rounding
rounded numbers to the same levels again gives the same numbers.
"""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import scalar_of, values_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat
from moir.dialects.opset.quantization import FakeQuantize
from moir.rewriting.driver import Pattern, PatternPass, Rewriter

MOST_MOVES = 8
"""The maximum number of operations that are looked through; their results have only elements of their first operand."""

Levels = tuple[float, float, float]
"""Lower limit, upper limit and number of quantization levels of a FakeQuantize."""


def kept_range(op: Operation) -> tuple[SSAValue, float, float] | None:
    """The operand and the limits of an operation that clamps its operand; None for any other operation."""
    if not isinstance(op, OpsetOp):
        return None
    match op.KIND:
        case "Relu":
            return op.operands[0], 0.0, math.inf
        case "Clamp":
            return op.operands[0], op.number("min"), op.number("max")
        case "Maximum" | "Minimum":
            for data, limit in (op.operands, op.operands[::-1]):
                if (number := scalar_of(limit)) is not None:
                    return (data, number, math.inf) if op.KIND == "Maximum" else (data, -math.inf, number)
            return None
        case _:
            return None


class LimitedBeforeRounding(Pattern):
    """Removes a clamp before a FakeQuantize if its limits contain the input range of the FakeQuantize."""

    roots = (FakeQuantize,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        limits = [values_of(each) for each in op.operands[1:3]]
        if any(each is None or not each.size for each in limits):
            return
        arrays = [np.asarray(each) for each in limits]
        lowest, highest = min(float(np.min(each)) for each in arrays), max(float(np.max(each)) for each in arrays)
        data = op.operands[0]
        while isinstance(data.owner, Operation) and (kept := kept_range(data.owner)) is not None and has_one_live_use(data):
            inner, low, high = kept
            if not (low <= lowest and highest <= high) or inner.type != data.type:
                break
            data = inner
        if data is not op.operands[0]:
            rewriter.replace_with(op, rewriter.op.FakeQuantize(data, *op.operands[1:], **op.properties))


def levels_of(op: Operation) -> Levels | None:
    """Lower limit, upper limit and number of levels of a FakeQuantize with equal scalar input and output limits; None
    for other operations.
    """
    if not isinstance(op, FakeQuantize):
        return None
    low, high, first, last = (scalar_of(each) for each in op.operands[1:])
    return (low, high, op.integer("levels")) if low is not None and high is not None and (low, high) == (first, last) else None


def rounded_to(value: SSAValue) -> Levels | None:
    """The quantization levels of the FakeQuantize that computes a value, perhaps with movements after it; None if no
    FakeQuantize does.
    """
    for _ in range(MOST_MOVES):
        op = value.owner
        if not isinstance(op, OpsetOp) or not (op.MOVES or op.KIND == "MaxPool"):
            break
        value = op.operands[0]
    return levels_of(value.owner) if isinstance(value.owner, Operation) else None


class RoundedBeforeConcat(Pattern):
    """Moves a FakeQuantize from two or more operands of a Concat to its result."""

    roots = (Concat,)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(each.owner, FakeQuantize) for each in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        levels = {rounded_to(each) for each in op.operands}
        roundings = [each.owner if isinstance(each.owner, FakeQuantize) and has_one_live_use(each) else None for each in op.operands]
        direct = [each for each in roundings if each is not None]
        if len(levels) > 1 or None in levels or len(direct) < 2:
            return
        operands = [each if rounding is None else rounding.data for each, rounding in zip(op.operands, roundings, strict=True)]
        joined = rewriter.op.Concat(*operands, axis=op.properties["axis"])
        rewriter.replace_with(op, rewriter.op.FakeQuantize(joined, *direct[0].operands[1:], **direct[0].properties))


class FuseFakeQuantizePass(PatternPass):
    """Removes clamps before a FakeQuantize with tighter limits, and moves FakeQuantize behind a Concat."""

    name = "fuse-fake-quantize"

    FIXPOINT = True

    PATTERNS = (LimitedBeforeRounding, RoundedBeforeConcat)
