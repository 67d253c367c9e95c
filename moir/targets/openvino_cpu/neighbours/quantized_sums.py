"""Sums with quantized convolutions, of which the CPU plugin computes one summand without rounding."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.uses import sole_user
from moir.dialects.opset.arithmetic import Add, Divide, Multiply, Subtract
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.interfaces.elementwise import ElementwiseOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

LONGEST_CHAIN = 8
"""The maximum number of operations between a sum and the FakeQuantize after it: the plugin fuses few into a
convolution.
"""


class SummandOfConvolution(Pattern):
    """Puts a PRelu of slope 1 between a convolution and the FakeQuantize whose result is added to another value.

        %0 = opset1.FakeQuantize(opset1.Convolution(%x, %w), …)
        %1 = opset1.Add(%0, %other)
        %y = opset1.FakeQuantize(%1, …)
    ->  %2 = opset1.PRelu(opset1.Convolution(%x, %w), [1])
        %0 = opset1.FakeQuantize(%2, …)
        %1 = opset1.Add(%0, %other)
        %y = opset1.FakeQuantize(%1, …)

    The plugin computes all four operations as one convolution. If nothing but a bias stands before the first
    FakeQuantize, it clamps %0 and does not round it. The PRelu changes no number and becomes a part of the convolution.
    """

    roots = (FakeQuantize,)
    companions = ((Convolution, GroupConvolution), (Add, Subtract))

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, FakeQuantize)
        total = sole_user(op.results[0])
        return isinstance(total, Add | Subtract) and _is_convolution(op.data) and _is_rounded_later(total)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, FakeQuantize)
        total = sole_user(op.results[0])
        if total is None or any(rewriter.known.constant(each) is not None for each in total.operands):
            return
        same = rewriter.op.PRelu(op.data, np.ones(1, np.float32))
        rewriter.replace_with(op, rewriter.op.create(FakeQuantize, [same, *op.operands[1:]], dict(op.properties)).results[0])


def _is_convolution(value: SSAValue) -> bool:
    """Whether a value is a convolution, perhaps with constants added or multiplied after it."""
    for _ in range(LONGEST_CHAIN):
        if isinstance(owner := value.owner, Convolution | GroupConvolution):
            return True
        if not isinstance(owner, Add | Subtract | Multiply | Divide):
            return False
        value = owner.operands[0]
    return False


def _is_rounded_later(op: Operation | None) -> bool:
    """Whether the only user of a result is a FakeQuantize, perhaps after elementwise operations; False for None."""
    for _ in range(LONGEST_CHAIN):
        op = None if op is None else sole_user(op.results[0])
        if isinstance(op, FakeQuantize):
            return True
        if not isinstance(op, ElementwiseOp):
            return False
    return False


FORMS = (
    Form(
        "round-summands",
        (SummandOfConvolution,),
        faults=(
            Fault(
                "unrounded-summand",
                "FakeQuantize of a Convolution of quantized values, added to another value, with a FakeQuantize after the sum",
                "is clamped and not rounded",
            ),
        ),
    ),
)
