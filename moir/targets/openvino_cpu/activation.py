"""Functions of single elements that the CPU plugin computes with large errors."""

from __future__ import annotations

from functools import partial

from xdsl.ir import Operation

from moir.dialects.opset.elementwise import ErfInv
from moir.expansions.special.gamma import in_single
from moir.expansions.special.normal_quantile import inverse_error_function
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class InverseErrorFunction(Pattern):
    """Computes ErfInv by rational functions.

        %1 = opset17.ErfInv(%x)
    ->  the quantile of the normal distribution of (1 + %x) / 2, divided by the root of 2

    The plugin is off by up to 0.5 % near -1 and 1.
    """

    roots = (ErfInv,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        rewriter.replace_with(op, in_single(rewriter.op, partial(inverse_error_function, rewriter.op), op.operands[0]))


FORMS = (
    Form(
        "compute-inverse-error-function",
        (InverseErrorFunction,),
        faults=(Fault("inverse-error-function", "ErfInv near -1 and 1", "is off by up to 0.5 %"),),
    ),
)
