"""`fuse-roundings`: what a FakeQuantize does already is left out, and roundings before a Concat become one after it.

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

MOVING = frozenset(("MaxPool", "Reshape", "Squeeze", "Transpose", "Unsqueeze"))
"""Kinds of operations whose result has numbers of their first operand alone."""

MOST_MOVES = 8
"""How many of them are looked through."""

Levels = tuple[float, float, float]
"""The lowest and the highest number of a FakeQuantize, and the number of its levels."""


def kept_range(op: Operation) -> tuple[SSAValue, float, float] | None:
    """The operand of an operation that limits numbers to a range, and its ends; None for any other operation."""
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
    """Leaves out the limits of a range around that of a FakeQuantize."""

    roots = (FakeQuantize,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        limits = [values_of(each) for each in op.operands[1:3]]
        if any(each is None or not each.size for each in limits):
            return
        arrays = [np.asarray(each) for each in limits]
        lowest, highest = min(float(np.min(each)) for each in arrays), max(float(np.max(each)) for each in arrays)
        data = op.operands[0]
        while isinstance(data.owner, Operation) and (found := kept_range(data.owner)) is not None and has_one_live_use(data):
            inner, low, high = found
            if not (low <= lowest and highest <= high) or inner.type != data.type:
                break
            data = inner
        if data is not op.operands[0]:
            rewriter.replace_with(op, rewriter.op.FakeQuantize(data, *op.operands[1:], **op.properties))


def levels_of(op: Operation) -> Levels | None:
    """The levels of a FakeQuantize with one range for all elements, before and after it; None for other operations."""
    if not isinstance(op, FakeQuantize):
        return None
    low, high, first, last = (scalar_of(each) for each in op.operands[1:])
    return (low, high, op.integer("levels")) if low is not None and high is not None and (low, high) == (first, last) else None


def rounded_to(value: SSAValue) -> Levels | None:
    """The levels to which the numbers of a value are rounded; None if that is not known."""
    for _ in range(MOST_MOVES):
        op = value.owner
        if not isinstance(op, OpsetOp) or op.KIND not in MOVING:
            break
        value = op.operands[0]
    return levels_of(value.owner) if isinstance(value.owner, Operation) else None


class RoundedBeforeConcat(Pattern):
    """Rounds the result of a Concat in place of two or more of its operands."""

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


class FuseRoundingsPass(PatternPass):
    """Leaves out limits that a FakeQuantize has itself, and rounds once what several roundings prepare for a Concat."""

    name = "fuse-roundings"

    FIXPOINT = True

    PATTERNS = (LimitedBeforeRounding, RoundedBeforeConcat)
