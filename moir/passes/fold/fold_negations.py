"""`fold-negations`: a negated term of a sum is subtracted.

    %0 = opset1.Negative(%x)
    %1 = opset1.Multiply(%0, %y)
    %2 = opset1.Add(%1, %z)
->  %0 = opset1.Multiply(%x, %y)
    %2 = opset1.Subtract(%z, %0)

The results are the same to the last bit.
"""

from __future__ import annotations

from typing import ClassVar

from moir.rewriting.rules import FusionRule, RulePass


class FoldNegationsPass(RulePass):
    """Writes sums with a negated term as differences."""

    name = "fold-negations"

    RULES: ClassVar[tuple[FusionRule, ...]] = (
        FusionRule(
            pattern=lambda op, x, y: op.Add(op.Negative(x), y),
            rewrite=lambda op, match: op.Subtract(match["y"], match["x"]),
        ),
        FusionRule(
            pattern=lambda op, x, y, z: op.Add(op.Multiply(op.Negative(x), y), z),
            rewrite=lambda op, match: op.Subtract(match["z"], op.Multiply(match["x"], match["y"])),
        ),
        FusionRule(
            pattern=lambda op, x, y: op.Subtract(x, op.Negative(y)),
            rewrite=lambda op, match: op.Add(match["x"], match["y"]),
        ),
    )
