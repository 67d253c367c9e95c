"""`reverse-comparisons`: Greater and GreaterEqual of floats become Less and LessEqual of the operands in reverse order.

    %1 = opset1.Greater(%x, %y)
->  %1 = opset1.Less(%y, %x)

The CPU plugin (2026.4) computes the former as the negation of the latter, so that they hold for NaN.
"""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.element_types import INTEGER_TYPES, boolean
from moir.dialects.opset.comparison import Greater, GreaterEqual
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


class ComparisonOfFloats(Pattern):
    """Reverses a comparison whose operands may be NaN."""

    roots = (Greater, GreaterEqual)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Greater | GreaterEqual)
        if element_of(op.operands[0]) in INTEGER_TYPES | {boolean} or op.text("auto_broadcast") == "pdpd":
            return
        kind = rewriter.op.Less if isinstance(op, Greater) else rewriter.op.LessEqual
        rewriter.replace_with(op, kind(op.operands[1], op.operands[0], auto_broadcast=op.text("auto_broadcast")))


class ReverseComparisonsPass(PatternPass):
    """Reverses comparisons of floats that the plugin computes wrongly for NaN."""

    name = "reverse-comparisons"

    def patterns(self) -> list[Pattern]:
        return [ComparisonOfFloats()]
