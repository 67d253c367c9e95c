"""Activations and normalizations whose ranks the CPU plugin does not expect."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.element_types import si32, si64
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Power, Subtract
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.elementwise import BroadcastingOp
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class ConstantAddsDimensions(Pattern):
    """Inserts an Unsqueeze before an elementwise operation with a constant of a higher rank.

        %y = opset1.Maximum(%x, %c)              // %x: [5], %c: [1, 1], a constant
    ->  %0 = opset1.Unsqueeze(%x, [0])
        %y = opset1.Maximum(%0, %c)

    The plugin fuses activations and normalizations (Clamp, HSigmoid, SoftPlus, Gelu, MVN, …) without regard to the
    ranks of constants, and the fused result has the rank of x. The pattern matches the kinds of constants that such
    functions have: scalars, and scales and shifts (γ, β). It skips i32 and i64, which are types of shapes, except for
    the two operations of a Clamp.
    """

    roots = (Add, Divide, Maximum, Minimum, Multiply, Power, Subtract)

    def may_match(self, op: Operation) -> bool:
        a, b = op.operands
        return isinstance(a.owner, Constant) != isinstance(b.owner, Constant)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, BroadcastingOp)
        place = int(isinstance(op.operands[0].owner, Constant))
        value, constant = op.operands[place], op.operands[1 - place]
        rank, wanted = rank_of(value), rank_of(constant)
        if rank is None or wanted is None or wanted <= rank:
            return
        if element_of(value) in (si32, si64) and not isinstance(op, Maximum | Minimum):
            return
        if element_count(shape_of(constant)) != 1 and not isinstance(op, Add | Multiply):
            return
        operands = list(op.operands)
        operands[place] = rewriter.op.Unsqueeze(value, list(range(wanted - rank)))
        rewriter.replace_with(op, getattr(rewriter.op, op.KIND)(*operands))


FORMS = (
    Form(
        "equalize-ranks",
        (ConstantAddsDimensions,),
        after=(
            "simplify-matmul",
            "propagate-nan-constants",
        ),
        faults=(
            Fault(
                "activation-rank",
                "activations and normalizations made of simple operations, with constants of a higher rank than the operand",
                "lose the dimensions of size 1 that these add",
            ),
        ),
    ),
)
