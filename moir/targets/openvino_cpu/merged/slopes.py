"""PRelus that the CPU plugin merges with the sums before them, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.activation import PRelu
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.levels import merged_before
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Form

_REDUCED = 3


class SlopesOfSums(Pattern):
    """Separates a PRelu with slopes of channels from the matrix product or the reduction before it.

        %0 = opset1.MatMul(%x, %w)                               // [2, 4, 3, 6]; %w is a constant
        %y = opset1.PRelu(%0, %slopes)                           // %slopes: [4]
    ->  %y = opset1.PRelu(opset1.Maximum(-inf, %0), %slopes)

    The plugin takes the last axis of a product for that of the slopes: it does not compile the model, or uses slopes of
    other elements. Behind a reduction of data of three dimensions it reads them out of bounds.
    """

    roots = (PRelu,)
    companions = ((MatMul, ReductionOp),)

    def may_match(self, op: Operation) -> bool:
        data, slopes = op.operands
        if is_computed_identity(data) or not set(shape_of(slopes) or (-1,)) - {1}:
            return False
        total = merged_before(data).owner
        if isinstance(total, ReductionOp):
            return rank_of(total.operands[0]) == _REDUCED
        return isinstance(total, MatMul) and (rank_of(data) or _REDUCED) > 2

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, slopes = op.operands
        rewriter.replace_with(op, rewriter.op.PRelu(computed_identity(rewriter.op, data), slopes))


FORMS = (Form("separate-slopes", (SlopesOfSums,)),)
