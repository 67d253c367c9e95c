"""Reductions that the CPU plugin computes wrongly."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue, Use

from moir.analysis.constants import constant_of
from moir.dialects.element_types import INTEGER_TYPES, boolean, f32, f64, ui8
from moir.dialects.opset.activation import PRelu
from moir.dialects.opset.arithmetic import Divide
from moir.dialects.opset.elementwise import Negative
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat, Transpose
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.opset.reduction import ReduceLogicalAnd, ReduceLogicalOr, ReduceMax, ReduceMin, ReductionOp
from moir.dialects.opset.repetition import Broadcast
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import Shape, element_of, normalize_axis, rank_of, shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

RANK = 3


class ReductionBetweenTransposes(Pattern):
    """Reduces along other axes instead of a Transpose before a reduction that the one after it undoes.

        %1 = opset1.Transpose(%0, [1, 2, 0])                 // %0: [3, 2, 8]
        %2 = opset1.ReduceMean(%1, [2]) {keep_dims = true}
        %3 = opset1.Transpose(%2, [2, 0, 1])
    ->  %3 = opset1.ReduceMean(%0, [0]) {keep_dims = true}

    The plugin does so, too, also if the second one is a Reshape as it moves dimensions of size 1 alone, and then fuses
    the constants after it into the reduction. `ReductionBeforeConstants` separates the reduction of this pattern.
    """

    roots = (Transpose, Reshape)
    companions = ((ReductionOp,), (Transpose,))

    def may_match(self, op: Operation) -> bool:
        reduction = op.operands[0].owner
        if not isinstance(reduction, ReductionOp) or not reduction.flag("keep_dims") or not op.operands[0].has_one_use():
            return False
        ranks = {rank_of(op.operands[0]), rank_of(op.results[0])}
        return ranks == {RANK} and isinstance(reduction.operands[0].owner, Transpose)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        reduction = op.operands[0].owner
        assert isinstance(reduction, ReductionOp)
        before = reduction.operands[0].owner
        assert isinstance(before, Transpose)
        order, axes = rewriter.known.integers(before.operands[1]), rewriter.known.integers(reduction.operands[1])
        if order is None or axes is None:
            return
        if isinstance(op, Transpose):
            undone = rewriter.known.integers(op.operands[1])
            if undone is None or [order[axis] for axis in undone] != list(range(RANK)):
                return
        elif not _restores(shape_of(op.results[0]), shape_of(reduction.results[0]), order):
            return
        moved = [order[normalize_axis(axis, RANK)] for axis in axes]
        operands = [before.operands[0], rewriter.op.constant(moved)]
        rewriter.replace_with(op, rewriter.op.create(type(reduction), operands, dict(reduction.properties)).results[0])


def _restores(result: Shape, reduced: Shape, order: Sequence[int]) -> bool:
    """Whether a Reshape from the shape `reduced`, whose axes are in `order`, to the shape `result` of ascending axes
    undoes a Transpose: the axes of more than one element are ascending in both.
    """
    if result is None or reduced is None or min(*result, *reduced) < 0:
        return False
    large = [axis for axis, size in zip(order, reduced, strict=True) if size != 1]
    return large == sorted(large) and all(result[axis] == size for axis, size in zip(order, reduced, strict=True))


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
    directions to a constant shape is a product with ones of this shape. If reduced dimensions are removed, limits of a
    FakeQuantize along an axis of the result are applied along the axis of the data with the same index. For integers it
    computes x / c instead of c / x, and rounds x / c to the nearest integer, also after a Squeeze; there a Convert
    separates the two operations.

    For integers and f64 with three dimensions that are reduced from the second one on, the fused operation reads zeros
    instead of all batches but the first. For integers whose last dimension is reduced, it reads other memory instead of
    the batches beyond as many as the second dimension has entries. This also holds for some operands that are not
    constants: the plugin fuses the sign of a subtrahend, and values that it computes from static sizes. For f64 no
    operation separates a reduction of the second dimension.
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
        is_of_batches = axes in ([1], [1, 2]) or (axes == [2] and has_more_batches_than_rows(shape_of(data)))
        of_batches = rank == RANK and is_of_batches and is_combined(op) and (is_integer(op) or (len(axes) == 2 and is_wide(op)))
        if of_batches or (is_integer(op) and any(map(is_divided, constants_after(op)))):
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


def has_more_batches_than_rows(shape: Shape) -> bool:
    """Whether the first dimension of a shape may be larger than the second one."""
    if shape is None:
        return True
    batches, rows, *_ = shape
    return batches != 1 and (batches > rows or -1 in (batches, rows))


def is_combined(op: OpsetOp) -> bool:
    """Whether the only use of a result is in a Negative, or in an elementwise operation with another operand."""
    uses = list(op.results[0].uses)
    user = uses[0].operation if len(uses) == 1 else None
    if isinstance(user, Negative):
        return True
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
    """Whether the constant operand of a use has several elements.

    A Broadcast counts as a product with a tensor of ones.
    """
    if isinstance(use.operation, Broadcast):
        return bool((constant_of(use.operation.operands[1]) != 1).any())
    return bool(set(shape_of(use.operation.operands[use.index]) or ()) - {1})


def divides_constant(use: Use) -> bool:
    """Whether a use divides its constant by the computed value."""
    return isinstance(use.operation, Divide) and use.index == 0


def is_divided(use: Use) -> bool:
    """Whether a use divides the computed value by a constant other than 1."""
    known = constant_of(use.operation.operands[use.index])
    return isinstance(use.operation, Divide) and use.index == 1 and (known is None or bool((known != 1).any()))


def is_product_with_ones(op: Operation) -> bool:
    """Whether the runtime computes an operation as a product with ones: a Broadcast in both directions to a constant
    shape.
    """
    return isinstance(op, Broadcast) and op.text("mode") == "bidirectional" and isinstance(op.operands[1].owner, Constant)


def constants_after(op: OpsetOp) -> Iterator[Use]:
    """The uses in which elementwise operations after an operation, which the plugin fuses into it, combine its result
    with a constant.

    Ends before a PRelu with several slopes, which `separate-slopes` separates.
    """
    current: Operation = op
    while len(uses := list(current.results[0].uses)) == 1:
        user = uses[0].operation
        if is_product_with_ones(user):
            yield Use(user, 1)
            current = user
            continue
        if not isinstance(user, OpsetOp) or not user.operands or not is_fused(user):
            return
        others = [Use(user, index) for index, value in enumerate(user.operands) if value is not current.results[0]]
        if not all(isinstance(user.operands[use.index].owner, Constant) for use in others):
            # The plugin does not fuse such an operation.
            return
        if _adds_elements(shape_of(op.results[0]), shape_of(user.results[0])):
            return
        if isinstance(user, PRelu) and any(map(is_list, others)):
            return
        yield from others
        current = user


def is_fused(op: OpsetOp) -> bool:
    """Whether the plugin fuses operations like this one, with constants, into a reduction before it."""
    return op.POINTWISE or op.BROADCASTS or isinstance(op, FakeQuantize | PRelu)


def _adds_elements(reduced: Shape, result: Shape) -> bool:
    """Whether the result of an elementwise operation has more elements than its operand, of the shape `reduced`.

    Dynamic dimensions of the operand that the result has static count as equal.
    """
    if reduced is None or result is None or len(reduced) != len(result):
        return reduced != result
    return any(size not in (-1, other) for size, other in zip(reduced, result, strict=True))


class BooleansAlongComputedAxes(Pattern):
    """Computes a logical reduction along computed axes as an extreme of bytes.

        %y = opset1.ReduceLogicalAnd(%x, %axes)              // %axes is computed
    ->  %0 = opset1.ReduceMin(opset1.Convert(%x) {destination_type = u8}, %axes)
        %y = opset1.Convert(%0) {destination_type = boolean}

    The plugin does not execute a logical reduction along computed axes.
    """

    roots = (ReduceLogicalAnd, ReduceLogicalOr)

    def may_match(self, op: Operation) -> bool:
        return constant_of(op.operands[1]) is None

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReductionOp)
        data, axes = op.operands
        extreme = rewriter.op.ReduceMin if isinstance(op, ReduceLogicalAnd) else rewriter.op.ReduceMax
        result = extreme(rewriter.op.convert(data, ui8), axes, keep_dims=op.flag("keep_dims"))
        rewriter.replace_with(op, rewriter.op.convert(result, boolean))


class ExtremeOfConcat(Pattern):
    """Reduces the operands of a Concat instead of its result, and takes the maximum or minimum of the parts.

        %2 = opset1.ReduceMax(opset1.Concat(%0, %1) {axis = 0}, [0])
    ->  %2 = opset1.Maximum(opset1.ReduceMax(%0, [0]), opset1.ReduceMax(%1, [0]))

    Before release 2026.1 the runtime takes all parts to have one element along the axis.
    """

    roots = (ReduceMax, ReduceMin)

    def may_match(self, op: Operation) -> bool:
        joined = op.operands[0].owner
        return isinstance(joined, Concat) and len(joined.operands) > 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, ReductionOp)
        joined, axes = op.operands[0].owner, constant_of(op.operands[1])
        assert isinstance(joined, Concat)
        rank = rank_of(op.operands[0])
        if axes is None or rank is None:
            return
        axis = normalize_axis(joined.integer("axis"), rank)
        if axis not in {normalize_axis(each, rank) for each in axes.reshape(-1).tolist()}:
            return
        if all((shape_of(part) or {axis: -1})[axis] == 1 for part in joined.operands):
            return
        build, keeps = rewriter.op, op.flag("keep_dims")
        reduce, join = (build.ReduceMax, build.Maximum) if isinstance(op, ReduceMax) else (build.ReduceMin, build.Minimum)
        rewriter.replace_with(op, functools.reduce(join, [reduce(part, op.operands[1], keep_dims=keeps) for part in joined.operands]))


FORMS = (
    Form(
        "reduce-before-concat",
        (ExtremeOfConcat,),
        faults=(
            Fault(
                "reduced-concat",
                "ReduceMax and ReduceMin of a Concat of several sizes above 1 along the axis",
                "have another shape, or are not compiled",
                versions=("2025.4", "2026.0"),
            ),
        ),
    ),
    Form(
        "reduce-booleans-as-bytes",
        (BooleansAlongComputedAxes,),
        faults=(Fault("logical-axes", "ReduceLogicalAnd and ReduceLogicalOr along computed axes", "do not run"),),
    ),
    Form(
        "separate-reductions",
        (ReductionBetweenTransposes, ReductionBeforeConstants),
        "Separates reductions from operations with constants that the plugin would fuse wrongly, also behind a Transpose.",
        after=("simplify-matmul",),
        faults=(
            Fault(
                "levels-of-means",
                "FakeQuantize with several limits of a reduction that does not keep its dimensions, or of the first of them",
                "takes limits along another axis",
            ),
            Fault("constant-by-reduction", "a constant divided by a reduction of integers", "is the reduction divided by the constant"),
            Fault(
                "quotient-of-reduction",
                "a reduction of integers, divided by a constant",
                "is rounded to the nearest integer instead of toward zero",
            ),
            Fault(
                "rows-of-constants",
                "a reduction of the last of three dimensions, then constants for single rows",
                "reads the constants out of bounds",
            ),
            Fault(
                "rows-without-batches",
                "a reduction of the first of three dimensions, then constants for single rows",
                "reads the constants out of bounds",
            ),
            Fault(
                "rows-of-activations",
                "a reduction of the first or last of three dimensions, then a PRelu with one slope, then constants for single rows",
                "reads the constants out of bounds",
            ),
            Fault(
                "rows-between-transposes",
                "a reduction of three dimensions between two Transposes, the second of which undoes the first, then constants for single "
                "rows",
                "reads the constants out of bounds",
            ),
            Fault(
                "rows-of-broadcasts",
                "a reduction of the last of three dimensions, then a Broadcast in both directions to a constant shape with the same rows",
                "multiplies by ones, which it reads out of bounds",
            ),
            Fault(
                "batches-of-reductions",
                "a reduction of integers or f64 of three dimensions from the second one on, then a constant, or as a subtrahend",
                "is that of the first batch, and 0 for all others",
            ),
            Fault(
                "batches-of-rows",
                "a reduction of integers along the last of three dimensions, of more batches than rows, then a constant, or as a "
                "subtrahend",
                "is that of the first batches, and other memory for the rest",
            ),
        ),
    ),
)
