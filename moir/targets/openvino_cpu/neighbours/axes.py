"""Forms with nonnegative axes, for operations whose negative axes the runtime applies to the shape of another
operation.
"""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.constants import constant_of
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import Unsqueeze
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class NegativeAxes(Pattern):
    """Counts the constant axes of a reduction from the first dimension, where the rank is known.

        %y = opset1.ReduceMean(%x, [-2])                     // %x: [2, 1]
    ->  %y = opset1.ReduceMean(%x, [0])

    The runtime removes a Reshape or Unsqueeze of the operand that only adds dimensions of size 1, and counts negative
    axes in the shape before it, so that it does not compile them.
    """

    roots = (ReductionOp,)

    def may_match(self, op: Operation) -> bool:
        axes = constant_of(op.operands[1])
        return axes is not None and bool((axes < 0).any()) and rank_of(op.operands[0]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        axes, rank = constant_of(op.operands[1]), rank_of(op.operands[0])
        assert axes is not None
        assert rank is not None
        assert isinstance(op, ReductionOp)
        counted = rewriter.op.constant(axes % max(rank, 1), element_of(op.operands[1]))
        rewriter.replace_with(op, rewriter.op.create(type(op), [op.operands[0], counted], dict(op.properties)).results)


class AddedAxes(Pattern):
    """Counts the constant axes of an Unsqueeze from the first dimension of its result, where the rank is known.

        %y = opset1.Unsqueeze(%x, [-3])                      // %x: [2, 1]
    ->  %y = opset1.Unsqueeze(%x, [0])

    The runtime moves an Unsqueeze behind a reduction that does not keep its dimensions, with its axes as they are.
    """

    roots = (Unsqueeze,)
    companions = ((ReductionOp,),)

    def may_match(self, op: Operation) -> bool:
        axes = constant_of(op.operands[1])
        return axes is not None and bool((axes < 0).any()) and rank_of(op.results[0]) is not None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        axes, rank = constant_of(op.operands[1]), rank_of(op.results[0])
        assert axes is not None
        assert rank is not None
        rewriter.replace_with(op, rewriter.op.Unsqueeze(op.operands[0], rewriter.op.constant(axes % rank, element_of(op.operands[1]))))


FORMS = (
    Form(
        "count-axes-from-first",
        (NegativeAxes, AddedAxes),
        "Counts axes of reductions, and of an Unsqueeze before them, from the first dimension.",
        after=("sum-empty-products",),
        faults=(
            Fault("added-axes", "a reduction of dynamic shape after an Unsqueeze along axes counted from the end", "is not compiled"),
            Fault(
                "negative-axes",
                "a reduction along axes counted from the end, after a Reshape or Unsqueeze that adds a dimension of size 1",
                "is not compiled",
            ),
        ),
    ),
)
