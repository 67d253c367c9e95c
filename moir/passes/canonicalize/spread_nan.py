"""`spread-nan`: what is added to, multiplied by or compared with a constant NaN is NaN everywhere.

    %1 = opset1.Maximum(%0, %c)                          // %c: a constant, NaN
->  %2 = opset3.ShapeOf(%0)
    %1 = opset1.Broadcast(%c, %2)

The CPU plugin (2026.4) looks for activations (Clamp, HSigmoid, Swish, …) without regard to NaN in the place of their
constants: it computes numbers with them, or does not compile the model.
"""

from __future__ import annotations

import math

from xdsl.ir import Operation

from moir.analysis.constants import scalar_of
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Subtract
from moir.dialects.opset.elementwise_base import BroadcastingOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.shapes import is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class ConstantIsNan(Pattern):
    """Replaces an operation with a constant NaN by NaNs."""

    roots = (Add, Divide, Maximum, Minimum, Multiply, Subtract)

    def may_match(self, op: Operation) -> bool:
        a, b = op.operands
        return isinstance(a.owner, Constant) != isinstance(b.owner, Constant)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BroadcastingOp)
        place = int(isinstance(op.operands[0].owner, Constant))
        value, constant = op.operands[place], op.operands[1 - place]
        number, shape = scalar_of(constant), shape_of(value)
        if number is None or not math.isnan(number) or (rank_of(constant) or 0) > len(shape or ()):
            return
        build = rewriter.op
        sizes = build.constant(list(shape)) if shape is not None and is_static(shape) else build.ShapeOf(value)
        rewriter.replace_with(op, build.Broadcast(build.constant_like(number, value), sizes))


class SpreadNanPass(PatternPass):
    """Writes results that are NaN everywhere as such."""

    name = "spread-nan"

    def patterns(self) -> list[Pattern]:
        return [ConstantIsNan()]
