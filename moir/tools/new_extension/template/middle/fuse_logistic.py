"""`fuse-logistic`: fuses a sigmoid that is computed by several operations.

    %n = opset1.Negative(%x)
    %e = opset1.Exp(%n)
    %s = opset1.Add(%e, 1.0)
    %y = opset1.Divide(1.0, %s)
->  %y = opset1.Sigmoid(%x)
"""

from dataclasses import dataclass

from moir.rewriting.rules import FusionRule, RulePass


@dataclass(frozen=True)
class FuseLogistic(RulePass):
    """1 / (1 + exp(-x)) becomes a Sigmoid."""

    name = "fuse-logistic"
    # After the layout change, and before the pass that replaces x * sigmoid(x) by a Swish; `moir passes` lists
    # all passes.
    run_after = ("choose-layouts",)
    run_before = ("fuse-swish",)

    RULES = (
        FusionRule(
            pattern=lambda op, x: op.Divide(1.0, op.Add(op.Exp(op.Negative(x)), 1.0)),
            rewrite=lambda op, match: op.Sigmoid(match["x"]),
        ),
    )
