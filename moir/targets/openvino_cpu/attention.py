"""Attention with the operands that the CPU plugin computes fastest."""

from __future__ import annotations

import math

from xdsl.ir import Operation

from moir.analysis.constants import is_about, scalar_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form


class UsualScale(Pattern):
    """Leaves out the scale of attention where it is the default, and a mask that adds nothing.

        %y = opset13.ScaledDotProductAttention(%q, %k, %v, 0.0, 0.125)    // %q: [2, 12, 7, 64]
    ->  %y = opset13.ScaledDotProductAttention(%q, %k, %v)

    The runtime writes attention that the plugin does not compute as one operation as products again, with the scale as
    a factor. With a factor that several operations have in common, the plugin does not multiply while it computes the
    product before it, but afterwards.
    """

    roots = ("opset13.ScaledDotProductAttention",)

    def may_match(self, op: Operation) -> bool:
        return len(op.operands) > 3

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        query, *others, mask = op.operands[:4]
        width, element = (shape_of(query) or (-1,))[-1], element_of(query)
        if len(op.operands) > 4:
            scale = scalar_of(op.operands[4])
            if scale is None or width < 1 or not is_about(scale, 1 / math.sqrt(width), element):
                return
        is_without_effect = shape_of(mask) == () and element_of(mask) == element and scalar_of(mask) == 0
        if is_without_effect or len(op.operands) > 4:
            masks = [] if is_without_effect else [mask]
            rewriter.replace_with(op, rewriter.op.ScaledDotProductAttention(query, *others, *masks, causal=op.flag("causal")))


FORMS = (
    Form(
        "omit-usual-scales",
        "Leaves out the scale of attention where it is the default, and a mask that adds nothing.",
        lambda: [UsualScale()],
    ),
)
