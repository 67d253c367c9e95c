"""Reductions that the CPU plugin computes wrongly."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue, Use

from moir.analysis.constants import constant_of
from moir.dialects.element_types import INTEGER_TYPES, f32, f64
from moir.dialects.opset.arithmetic import Divide
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.shapes import element_of, normalize_axis, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form

RANK = 3


class ReductionBeforeConstants(Pattern):
    """Separates a reduction from the elementwise operations with constants that the plugin would fuse wrongly.

        %1 = opset1.ReduceSum(%0, [2])                       // %0: [N, 16, 7]
        %2 = opset1.Add(%1, %c)                              // %c: [1, 16], a constant
    ->  %1 = opset1.ReduceSum(%0, [2]) {keep_dims = true}
        %3 = opset15.Squeeze(%1, [2])
        %2 = opset1.Add(%3, %c)

    The plugin fuses elementwise operations with constants into the reduction before them. If the data have three
    dimensions, the first or last of which is reduced, the fused operation reads constants of several elements out of
    bounds; a reduction that keeps its dimension gets a fourth dimension before the others. A Broadcast in both
    directions to a constant shape is a product with ones of this shape. Levels along an axis of a result without the
    reduced dimensions are taken along the axis of this number of the data. For integers of any rank it computes x / c
    in place of c / x.
    If data of integers have several dimensions, it rounds x / c to the nearest one, also after a Squeeze: a Convert
    separates these.

    For integers and f64 with three dimensions that are reduced from the second one on, the fused operation reads zeros
    in place of all batches but the first, and so it does for integers whose last dimension is 1 and is reduced. This
    also holds for some operands that are not constants: the plugin fuses the sign of a subtrahend, and values that it
    computes from known sizes. For f64 no operation separates a reduction of the second dimension.
    """

    roots = (ReductionOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReductionOp)
        data, axes = op.operands
        listed = rewriter.known.integers(axes)
        rank = rank_of(data)
        if rank is None or not listed:
            return
        axes = sorted({normalize_axis(axis, rank) for axis in listed})
        is_of_batches = axes in ([1], [1, 2]) or (axes == [2] and (shape_of(data) or (-1,))[-1] == 1)
        of_batches = rank == RANK and is_of_batches and is_combined(op) and (is_integer(op) or (len(axes) == 2 and is_wide(op)))
        if of_batches or (rank > 1 and is_integer(op) and any(map(is_divided, constants_after(op)))):
            rewriter.replace_with(op, reduced_apart(rewriter.op, op, data, axes))
            return
        reads_beyond = rank == RANK and axes in ([0], [RANK - 1]) and any(map(is_list, constants_after(op)))
        keeps = op.flag("keep_dims")
        is_rounded = (0 in axes or not keeps) and any(
            is_list(each) and isinstance(each.operation, FakeQuantize) for each in constants_after(op)
        )
        if not reads_beyond and not is_rounded and not (is_integer(op) and any(map(divides_constant, constants_after(op)))):
            return
        build = rewriter.op
        if keeps:
            data, axes = build.Unsqueeze(data, [0]), [axis + 1 for axis in axes]
        reduced = getattr(build, op.KIND)(data, axes, keep_dims=True)
        rewriter.replace_with(op, build.Squeeze(reduced, [0] if keeps else axes))


def is_combined(op: OpsetOp) -> bool:
    """Whether the only use of a result is in an elementwise operation with another operand."""
    uses = list(op.results[0].uses)
    user = uses[0].operation if len(uses) == 1 else None
    return isinstance(user, OpsetOp) and len(user.operands) > 1 and (user.POINTWISE or user.BROADCASTS)


def reduced_apart(build: OpBuilder, op: ReductionOp, data: SSAValue, axes: list[int]) -> SSAValue:
    """A reduction that the plugin does not fuse: of integers in f32, of floats along one merged dimension."""
    keeps = op.flag("keep_dims")
    if is_integer(op):
        reduced = getattr(build, op.KIND)(build.Convert(data, destination_type=f32), axes, keep_dims=keeps)
        return build.Convert(reduced, destination_type=element_of(data))
    reduced = getattr(build, op.KIND)(build.Reshape(data, [0, -1], special_zero=True), [1], keep_dims=True)
    return build.Unsqueeze(reduced, [2]) if keeps else build.Squeeze(reduced, [1])


def is_wide(op: OpsetOp) -> bool:
    """Whether an operation computes f64."""
    return element_of(op.results[0]) == f64


def is_integer(op: OpsetOp) -> bool:
    """Whether an operation computes integers."""
    return element_of(op.results[0]) in INTEGER_TYPES


def is_list(use: Use) -> bool:
    """Whether the constant of a use has several elements; for a Broadcast it is the shape of ones."""
    if isinstance(use.operation, Broadcast):
        return bool((constant_of(use.operation.operands[1]) != 1).any())
    return bool(set(shape_of(use.operation.operands[use.index]) or ()) - {1})


def divides_constant(use: Use) -> bool:
    """Whether a use divides its constant by the computed value."""
    return isinstance(use.operation, Divide) and use.index == 0


def is_divided(use: Use) -> bool:
    """Whether a use divides the computed value by its constant, which is not 1."""
    known = constant_of(use.operation.operands[use.index])
    return isinstance(use.operation, Divide) and use.index == 1 and (known is None or bool((known != 1).any()))


def is_product_with_ones(op: Operation) -> bool:
    """Whether the runtime computes an operation as a product with ones: a Broadcast in both directions to a constant
    shape.
    """
    return isinstance(op, Broadcast) and op.text("mode") == "bidirectional" and isinstance(op.operands[1].owner, Constant)


def constants_after(op: OpsetOp) -> Iterator[Use]:
    """The constants of the elementwise operations that the plugin fuses into an operation."""
    current: Operation = op
    while len(uses := list(current.results[0].uses)) == 1:
        user = uses[0].operation
        if is_product_with_ones(user):
            yield Use(user, 1)
            current = user
            continue
        if not isinstance(user, OpsetOp) or not user.operands or not (user.POINTWISE or user.BROADCASTS or isinstance(user, FakeQuantize)):
            return
        others = [Use(user, index) for index, value in enumerate(user.operands) if value is not current.results[0]]
        if not all(isinstance(user.operands[use.index].owner, Constant) for use in others):
            # The plugin does not fuse such an operation.
            return
        if shape_of(user.results[0]) != shape_of(op.results[0]):
            return
        yield from others
        current = user


FORMS = (Form("separate-reductions", (ReductionBeforeConstants,)),)
