"""`split-attention-batch`: attention whose scores are split into windows for a mask is computed for split windows.

    %0 = opset1.Reshape(%p, [0, 49, 3, 3, 32])                                  // %p: [?, 49, 288], for all windows
    %1 = opset1.Transpose(%0, [2, 0, 3, 1, 4])
    %q, %k, %v = opset8.Gather(%1, 0, 0), opset8.Gather(%1, 1, 0), opset8.Gather(%1, 2, 0)
    %2 = opset1.MatMul(%q, %k) {transpose_b = true}                             // [?, 3, 49, 49]
    %3 = opset1.Add(opset1.Reshape(%2, [-1, 12, 3, 49, 49]), %mask)             // [1, 12, 1, 49, 49]
    %4 = opset8.Softmax(opset1.Reshape(%3, [-1, 3, 49, 49])) {axis = -1}
    %5 = opset1.Transpose(opset1.MatMul(%4, %v), [0, 2, 1, 3])
    %6 = opset1.Reshape(%5, [0, 49, 96])
->  %0 = opset1.Reshape(%p, [-1, 12, 49, 3, 3, 32])
    %1 = opset1.Transpose(%0, [3, 0, 1, 4, 2, 5])
    %q, %k, %v = opset8.Gather(%1, 0, 0), opset8.Gather(%1, 1, 0), opset8.Gather(%1, 2, 0)
    %2 = opset1.MatMul(%q, %k) {transpose_b = true}                             // [?, 12, 3, 49, 49]
    %4 = opset8.Softmax(opset1.Add(%2, %mask)) {axis = -1}
    %5 = opset1.Transpose(opset1.MatMul(%4, %v), [0, 1, 3, 2, 4])
    %6 = opset1.Reshape(%5, [-1, 49, 96])

Without the two Reshapes a mask is a part of the product (Liu et al., "Swin Transformer", 2021). The Reshapes that are
left existed before, so queries, keys and values must come from Reshapes, and nothing else may use what lies between.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.analysis.uses import has_one_live_use, live_uses
from moir.dialects.opset.activation import Softmax, Softmax1
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import rank_of
from moir.dialects.symbols import same
from moir.passes.fuse.attention.split_dimension import DimensionSplit, split_order
from moir.rewriting.driver import Pattern, Rewriter, rewrite
from moir.rewriting.reporting_pass import ReportingPass
from moir.support.records import Record

MOST_MASKS = 4
"""The maximum number of masks that are added to split scores."""


class SplitScores(Record):
    """Scores that are split, masked and merged again.

    Args:
        scores: the scores before they are split.
        split: the Reshape that splits their first dimension.
        masks: what is added to the split scores, in order.
    """

    scores: SSAValue
    split: Reshape
    masks: tuple[SSAValue, ...]


class SplitBatch(Pattern):
    """Removes the Reshapes around the mask of attention for windows, matched from its second product upwards."""

    roots = (MatMul,)

    def __init__(self, known: Dimensions) -> None:
        self.known = known

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        softmax, value = op.operands[0].owner, op.operands[1]
        if not isinstance(softmax, Softmax | Softmax1) or op.flag("transpose_a") or not has_one_live_use(op.operands[0]):
            return
        parts = split_scores(softmax.operands[0])
        uses = list(live_uses(op.results[0]))
        if parts is None or not uses or softmax.integer("axis") not in (-1, (rank_of(parts.scores) or 0) - 1):
            return
        splitting = DimensionSplit(self.known, parts.split)
        tail, merged = splitting.tail(parts.scores), splitting.tail(softmax.operands[0])
        divided = self.known.tokens(parts.split.results[0]) or ()
        if tail is None or tail != merged or tail != list(divided[2:]) or not self.same_batch(parts.scores, value):
            return
        sizes = splitting.tail(op.results[0])
        if sizes is None:
            return
        if not all(splitting.add(each) for each in (parts.scores, value)) or not splitting.is_closed({parts.split, op}):
            return
        build = rewriter.op
        split = splitting.built(build)
        scores = split[parts.scores]
        for mask in parts.masks:
            scores = build.Add(scores, mask)
        result = build.MatMul(build.Softmax(scores, axis=-1), split[value], transpose_b=op.flag("transpose_b"))
        last: Operation = op
        transposed = uses[0].operation
        if len(uses) == 1 and isinstance(transposed, Transpose) and (end := merging(transposed)) is not None:
            order, joined = transposed.permutation(rewriter.known), splitting.tail(end.results[0])
            if order is not None and order[0] == 0 and joined is not None:
                result, last, sizes = build.transposed(result, split_order(order, 0)), end, joined
        rewriter.replace_with(last, build.Reshape(result, build.constant([-1, *sizes]), special_zero=False))

    def same_batch(self, scores: SSAValue, value: SSAValue) -> bool:
        """Whether scores and values have the same first dimension and the same rank."""
        left, right = self.known.tokens(scores), self.known.tokens(value)
        return left is not None and right is not None and len(left) == len(right) and same(left[0], right[0])


def split_scores(value: SSAValue) -> SplitScores | None:
    """The operand of a softmax as scores that are split, masked and merged; None for other operands."""
    merged = value.owner
    if not isinstance(merged, Reshape) or not has_one_live_use(value):
        return None
    masks: list[SSAValue] = []
    value = merged.operands[0]
    for _ in range(MOST_MASKS):
        op = value.owner
        if not isinstance(op, Add) or op.text("auto_broadcast") != "numpy" or not has_one_live_use(value):
            return None
        value, mask = op.operands if isinstance(op.operands[0].owner, Reshape | Add) else reversed(op.operands)
        masks.insert(0, mask)
        split = value.owner
        if isinstance(split, Reshape):
            return SplitScores(split.operands[0], split, tuple(masks)) if has_one_live_use(value) else None
    return None


def merging(transposed: Transpose) -> Reshape | None:
    """The Reshape that is the only user of a transposed result; None if there is no such Reshape."""
    uses = list(live_uses(transposed.results[0]))
    return uses[0].operation if len(uses) == 1 and isinstance(uses[0].operation, Reshape) else None


class SplitAttentionBatchPass(ReportingPass):
    """Computes attention for split windows if its scores are split for a mask."""

    name = "split-attention-batch"

    ROOTS = (Softmax, Softmax1)

    COMPANIONS = ((Reshape,), (Add,))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if not any(isinstance(each.operands[0].owner, Reshape) for each in analyses.operations(Softmax, Softmax1)):
            return False
        known = analyses.dimensions()
        return rewrite(module, [SplitBatch(known)], known=known, analyses=analyses)
