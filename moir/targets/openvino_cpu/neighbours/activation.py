"""Activations whose parameters the CPU plugin replaces by others."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.activation import HardSigmoid, Selu
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class ParameterIsZero(Pattern):
    """Writes a HardSigmoid or Selu with a parameter of 0 as a Clamp or Elu.

        %y = opset1.HardSigmoid(%x, %a, %b)                  // %a or %b: a constant, 0
    ->  %y = opset1.Clamp(opset1.Add(opset1.Multiply(%x, %a), %b)) {min = 0, max = 1}

        %y = opset1.Selu(%x, %a, %s)                         // %a or %s: a constant, 0
    ->  %y = opset1.Multiply(opset1.Elu(%x) {alpha = a}, %s)

    The plugin takes a parameter of 0 for one that is not there, and computes with its own default.
    """

    roots = (HardSigmoid, Selu)

    def may_match(self, op: Operation) -> bool:
        values = [constant_of(each) for each in op.operands[1:]]
        return any(each is not None and each.size == 1 and not each.any() for each in values)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (x, first, second), build = op.operands, rewriter.op
        if isinstance(op, HardSigmoid):
            rewriter.replace_with(op, build.Clamp(build.Add(build.Multiply(x, first), second), min=0.0, max=1.0))
        elif (alpha := constant_of(first)) is not None:
            rewriter.replace_with(op, build.Multiply(build.Elu(x, alpha=float(alpha.reshape(()))), second))


FORMS = (
    Form(
        "write-zero-parameters",
        (ParameterIsZero,),
        faults=(Fault("zero-parameters", "HardSigmoid and Selu with a parameter of 0", "are computed with another parameter"),),
    ),
)
