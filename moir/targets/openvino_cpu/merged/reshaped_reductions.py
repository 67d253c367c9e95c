"""Reductions after which the runtime wrongly removes a Reshape."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.data import Array
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import normalize_axis, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class ReshapedReduction(Pattern):
    """Keeps the dimensions of a reduction before a Reshape that keeps the rank and has a size of 1 at a reduced axis.

        %0 = opset1.ReduceMean(%x, [1]) {keep_dims = false}      // %x: [2, 3, 4]
        %y = opset1.Reshape(%0, [8, 1])                          // of [2, 4]
    ->  %1 = opset1.ReduceMean(%x, [1]) {keep_dims = true}
        %y = opset1.Reshape(%1, [8, 1])

    The runtime takes the Reshape for one that adds the reduced dimensions, and removes it. A Transpose that moves only
    dimensions of size 1 is such a Reshape.
    """

    roots = (Reshape, Transpose)
    companions = ((ReductionOp,),)

    def may_match(self, op: Operation) -> bool:
        total = op.operands[0].owner
        if not isinstance(total, ReductionOp) or total.flag("keep_dims"):
            return False
        before, after = shape_of(total.results[0]), shape_of(op.results[0])
        if before is None or after is None or len(before) != len(after) or before == after or after.count(-1) > 1:
            return False
        return isinstance(op, Reshape) or _moves_ones(constant_of(op.operands[1]), before)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        total, after = op.operands[0].owner, shape_of(op.results[0])
        assert isinstance(total, ReductionOp)
        assert after is not None
        axes, rank = rewriter.known.integers(total.operands[1]), len(shape_of(total.operands[0]) or ())
        if axes is None or any(after[each] == 1 for axis in axes if (each := normalize_axis(axis, rank)) < len(after)):
            rewriter.replace_with(op, _reshaped(rewriter, total, total.operands[0], list(axes or []) or total.operands[1], after))


class ReducedTranspose(Pattern):
    """Reshapes after a reduction instead of a Transpose before it that would only move dimensions of size 1 after it.

        %0 = opset1.Transpose(%x, [0, 3, 1, 2])                  // %x: [2, 1, 4, 5]
        %y = opset1.ReduceMean(%0, [3]) {keep_dims = false}      // [2, 5, 1]
    ->  %1 = opset1.ReduceMean(%x, [2]) {keep_dims = true}       // [2, 1, 1, 5]
        %y = opset1.Reshape(%1, [2, 5, 1])

    The runtime reduces first, too, and then loses the Transpose: the sizes of the result are in another order. If
    several of them are dynamic, the reduced dimensions are kept and squeezed.
    """

    roots = (ReductionOp,)
    companions = ((Transpose,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, ReductionOp)
        return isinstance(op.operands[0].owner, Transpose) and not op.flag("keep_dims")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReductionOp)
        transpose = op.operands[0].owner
        assert isinstance(transpose, Transpose)
        data = transpose.operands[0]
        order, axes, shape = rewriter.known.integers(transpose.operands[1]), rewriter.known.integers(op.operands[1]), shape_of(data)
        if order is None or axes is None or shape is None or len(order) != len(shape):
            return
        reduced = sorted({order[normalize_axis(axis, len(order))] for axis in axes})
        kept = [axis for axis in order if axis not in reduced]
        large = [axis for axis in kept if shape[axis] != 1]
        if kept == sorted(kept) or large != sorted(large):
            return
        after = shape_of(op.results[0])
        if after is not None and after.count(-1) < 2:
            rewriter.replace_with(op, _reshaped(rewriter, op, data, reduced, after))
        else:
            build = rewriter.op
            wide = getattr(build, op.KIND)(*op.operands, keep_dims=True)
            rewriter.replace_with(op, build.Squeeze(wide, build.constant(list(axes))))


class TransposeOfReducedTranspose(Pattern):
    """Keeps the dimensions of a reduction between two Transposes until the second one has moved them.

        %0 = opset1.Transpose(%x, [1, 2, 3, 0])                  // %x: [1, 4, 1, 2]
        %1 = opset1.ReduceMax(%0, [3]) {keep_dims = false}       // [4, 1, 2]
        %y = opset1.Transpose(%1, [1, 0, 2])
    ->  %2 = opset1.ReduceMax(%0, [3]) {keep_dims = true}        // [4, 1, 2, 1]
        %3 = opset1.Transpose(%2, [1, 0, 2, 3])
        %y = opset15.Squeeze(%3, [3])

    The runtime moves the first Transpose behind the reduction, also from before elementwise operations. Where both
    together move only dimensions of size 1, it loses them: the sizes of the result are in another order.
    """

    roots = (Transpose,)
    companions = ((ReductionOp,), (Transpose,))

    def may_match(self, op: Operation) -> bool:
        total = op.operands[0].owner
        if not isinstance(total, ReductionOp) or total.flag("keep_dims") or not _is_of_transpose(total.operands[0]):
            return False
        return 1 in (shape_of(op.results[0]) or ())

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        total = op.operands[0].owner
        assert isinstance(total, ReductionOp)
        rank, order, axes = total.rank(0), rewriter.known.integers(op.operands[1]), rewriter.known.integers(total.operands[1])
        if rank is None or order is None or axes is None:
            return
        reduced = {normalize_axis(axis, rank) for axis in axes}
        kept = [axis for axis in range(rank) if axis not in reduced]
        build = rewriter.op
        wide = getattr(build, total.KIND)(*total.operands, keep_dims=True)
        moved = build.Transpose(wide, [*(kept[index] for index in order), *sorted(reduced)])
        rewriter.replace_with(op, build.Squeeze(moved, build.constant([*range(len(kept), rank)])))


_LONGEST_CHAIN = 8
"""The most elementwise operations between a Transpose and a reduction that are looked at."""


def _is_of_transpose(value: SSAValue, steps: int = _LONGEST_CHAIN) -> bool:
    """Whether a value is a Transpose, or computed of one by a few elementwise operations."""
    op = value.owner
    if isinstance(op, Transpose):
        return True
    if not steps or not isinstance(op, OpsetOp) or not (op.POINTWISE or op.BROADCASTS):
        return False
    return any(_is_of_transpose(each, steps - 1) for each in op.operands)


def _moves_ones(order: Array | None, shape: tuple[int, ...]) -> bool:
    """Whether a Transpose of a constant order keeps the order of all dimensions that are not 1."""
    if order is None:
        return False
    others = [axis for axis in order.reshape(-1).tolist() if shape[axis] != 1]
    return others == sorted(others)


def _reshaped(rewriter: Rewriter, op: ReductionOp, data: SSAValue, axes: SSAValue | list[int], shape: tuple[int, ...]) -> SSAValue:
    """The data reduced along axes by the kind of `op`, with the reduced dimensions kept, and reshaped to `shape`."""
    total = getattr(rewriter.op, op.KIND)(data, axes, keep_dims=True)
    return rewriter.op.Reshape(total, rewriter.op.constant(list(shape)), special_zero=False)


FORMS = (
    Form(
        "keep-reduced-dimensions",
        (ReshapedReduction, ReducedTranspose, TransposeOfReducedTranspose),
        "Keeps the dimensions of reductions whose Reshape or Transpose the runtime would lose.",
        after=(
            "normalize-columns",
            "search-along-axes",
        ),
        faults=(
            Fault(
                "reshaped-reductions",
                "Reshape of a reduction without its dimensions, which keeps the rank and has a size of 1 at a reduced axis",
                "keeps the sizes",
            ),
            Fault(
                "reduced-transposes",
                "a reduction of a Transpose that would move dimensions of size 1 alone after it",
                "has its sizes in another order",
            ),
            Fault(
                "reduced-between-transposes",
                "a reduction without its dimensions between two Transposes which together move dimensions of size 1 alone",
                "has its sizes in another order",
            ),
        ),
    ),
)
