"""Shapes that the CPU plugin handles wrongly, and static sizes that it computes in each inference."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.analysis.sources import is_computed_of
from moir.dialects.element_types import REAL_TYPES, si32, si64
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.record import Fault, Form
from moir.targets.stages import PREFERRED


class ConstantInCopiedSizes(Pattern):
    """Replaces the zeros of a computed target shape by the sizes of the constant that is reshaped.

        %y = opset1.Reshape(%c, %target) {special_zero}      // %c: a constant [2, 3]
    ->  %0 = opset1.Select(opset1.Equal(%target, 0), [2, 3], %target)
        %y = opset1.Reshape(%c, %0) {special_zero}

    The plugin does not copy sizes for zeros in the target if the data are a constant.
    """

    roots = ("opset1.Reshape",)

    def may_match(self, op: Operation) -> bool:
        data, target = op.operands
        is_computed = isinstance(data.owner, Constant) and not isinstance(target.owner, Constant)
        return is_computed and isinstance(op, OpsetOp) and op.flag("special_zero")

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (data, target), build = op.operands, rewriter.op
        shape, count = shape_of(data), element_count(shape_of(target))
        if shape is None or not count or rewriter.known.integers(target) is not None:
            return
        sizes = build.constant([*shape, *[1] * count][:count], element_of(target))
        copied = build.Select(build.Equal(target, 0), sizes, target)
        rewriter.replace_with(op, build.Reshape(data, copied, special_zero=True))


LONGEST_VECTOR = 64
"""The largest length of a 1-D tensor for which a Gather is written: lengths are ranks, or numbers of axes or parts."""


class LengthOfVector(Pattern):
    """Replaces a Reshape that states the length of a 1-D tensor of integers by a Gather of its elements.

        %y = opset1.Reshape(%x, [3])                         // %x: [?]
    ->  %y = opset8.Gather(%x, [0, 1, 2], 0)

    If the inputs get other shapes by `model.reshape()`, the runtime removes such a Reshape, and with it the rank or the
    number of results of the operation that takes the tensor as its target shape, axes or lengths.
    """

    roots = ("opset1.Reshape",)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        is_vector = rank_of(data) in (1, None) and element_count(shape_of(data)) is None and rank_of(op.results[0]) == 1
        return is_vector and element_of(data) in INDICES

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, target = op.operands
        length, build = rewriter.known.integers(target), rewriter.op
        if length is not None and 0 < length[0] <= LONGEST_VECTOR:
            vector = data if rank_of(data) == 1 else build.Reshape(data, [-1], special_zero=False)
            rewriter.replace_with(op, build.Gather(vector, list(range(length[0])), 0))


class BroadcastToScalar(Pattern):
    """Replaces a Broadcast to rank 0 by a Reshape.

        %y = opset3.Broadcast(%x, %target)                   // %target: [0]
    ->  %y = opset1.Reshape(%x, [])

    The plugin terminates the process if the runtime folds the target shape.
    """

    roots = ("opset3.Broadcast",)

    def may_match(self, op: Operation) -> bool:
        return shape_of(op.operands[1]) == (0,) and isinstance(op, OpsetOp) and op.text("mode") != "bidirectional"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        rewriter.replace_with(op, rewriter.op.Reshape(op.operands[0], rewriter.op.constant([], si64), special_zero=False))


class ViewsOfMovedData(Pattern):
    """Copies data that have views before their channels are moved to the front, or before they are resized.

        %a = opset1.Reshape(%x, %shape)
        %b = opset1.Unsqueeze(%x, %axis)
        %y = opset1.Transpose(%x, [0, 3, 1, 2])
    ->  %y = opset1.Transpose(opset1.Maximum(-inf, %x), [0, 3, 1, 2])

    For the Transpose the plugin rearranges %x in place, in another layout; if there are two views, or if a view is a
    result of the model, their memory then has other data. The maximum with minus infinity is an identity, also for NaN
    as the second operand.
    """

    roots = ("opset1.Transpose", "opset1.Interpolate", "opset4.Interpolate", "opset11.Interpolate")

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        if element_of(data) not in REAL_TYPES or not is_static(shape_of(data) or (-1,)) or isinstance(data.owner, Constant | Parameter):
            return False
        views = [use.operation for use in data.uses if isinstance(use.operation, OpsetOp) and use.operation.RESHAPES]
        return len(views) > 1 or any(isinstance(use.operation, Result) for each in views for use in each.results[0].uses)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, rank = op.operands[0], rank_of(op.operands[0]) or 0
        if op.KIND == "Transpose":
            order = rewriter.known.integers(op.operands[1])
            if order is not None and (rank < 3 or order[1] != rank - 1):
                return
        copied = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [copied, *op.operands[1:]], dict(op.properties)).results[0])


_SEQUENCES = ("opset5.GRUSequence", "opset5.LSTMSequence", "opset5.RNNSequence")


class ViewsBeforeSequence(Pattern):
    """Copies data that a Concat reads, or that have views, before they are transposed for a recurrent sequence.

        %0 = opset1.Transpose(%x, [1, 0, 2])
        %y, %h = opset5.RNNSequence(%0, …)
        %z = opset1.Concat(%y, %x) {axis = 0}
    ->  %0 = opset1.Transpose(opset1.Maximum(-inf, %x), [1, 0, 2])

    The plugin reads the data of the sequence where %x would be if nothing else used its memory: it computes with other
    numbers, which differ from one inference to the next.
    """

    roots = ("opset1.Transpose",)
    companions = (_SEQUENCES,)

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        if not is_static(shape_of(data) or (-1,)) or isinstance(data.owner, Constant | Parameter) or is_computed_identity(data):
            return False
        if not any(use.operation.name in _SEQUENCES and use.index == 0 for use in op.results[0].uses):
            return False
        users = [use.operation for use in data.uses]
        return any(isinstance(each, OpsetOp) and (each.RESHAPES or each.KIND == "Concat") for each in users)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, order = op.operands
        rewriter.replace_with(op, rewriter.op.Transpose(computed_identity(rewriter.op, data), order))


class StaticDimensions(Pattern):
    """Selects adjacent static dimensions from a shape by a StridedSlice.

        %s = opset3.ShapeOf(%x)                              // %x: [?, 3, 32, 48]
        %y = opset8.Gather(%s, [2, 3], 0)
    ->  %y = opset1.StridedSlice(%s, [2], [4])

    The plugin evaluates a StridedSlice of a shape at compile time if the selected sizes are known, but a Gather or a
    Slice only if all sizes of the shape are known.
    """

    # By their names, as their classes would be imported for every model with a Reshape.
    roots = ("opset8.Gather", "opset8.Slice")
    companions = ((ShapeOf,),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, ShapeOf) and len(shape_of(op.results[0]) or ()) <= 1

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        shape = shape_of(op.operands[0].owner.operands[0]) if isinstance(op.operands[0].owner, ShapeOf) else None
        if shape is None or is_static(shape):
            return
        indices = _gathered_indices(op, len(shape), rewriter)
        if not indices or indices != list(range(indices[0], indices[-1] + 1)) or min(shape[index] for index in indices) < 0:
            return
        masks = {"begin_mask": [0], "end_mask": [0], "shrink_axis_mask": [int(shape_of(op.results[0]) == ())]}
        rewriter.replace_with(op, rewriter.op.StridedSlice(op.operands[0], [indices[0]], [indices[-1] + 1], **masks))


def _gathered_indices(op: Operation, rank: int, rewriter: Rewriter) -> list[int] | None:
    """The dimensions that a Gather or Slice selects from a shape of `rank` elements; None if its indices or bounds are
    computed.
    """
    numbers = [rewriter.known.integers(each) for each in op.operands[1:]]
    if any(each is None for each in numbers):
        return None
    if op.name == "opset8.Slice":
        begin, end, step = (each[0] for each in numbers[:3] if each)
        return list(range(rank))[begin:end:step]
    return [index % rank for index in numbers[0] or ()]


INDICES = frozenset({si32, si64})


class AbsoluteOfSizes(Pattern):
    """Replaces the Abs of a 1-D tensor that is computed from sizes by a Maximum of the tensor and its negative.

        %0 = opset1.Subtract([1, 5], %size)                  // %size: computed from a ShapeOf
        %1 = opset1.Abs(%0)
    ->  %1 = opset1.Maximum(%0, opset1.Negative(%0))

    The runtime takes a 1-D tensor that is computed from sizes for a shape, without negative elements, and removes the
    Abs.
    """

    roots = ("opset1.Abs",)

    def may_match(self, op: Operation) -> bool:
        return rank_of(op.operands[0]) in (1, None) and is_computed_of(op.operands[0], "ShapeOf", is_end=True)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x = op.operands[0]
        rewriter.replace_with(op, rewriter.op.Maximum(x, rewriter.op.Negative(x)))


FORMS = (
    Form(
        "compare-with-negatives",
        (AbsoluteOfSizes,),
        faults=(
            Fault(
                "absolute-sizes", "Abs of a 1-D tensor that is computed from sizes", "is left out, so that negative elements stay negative"
            ),
        ),
    ),
    Form(
        "gather-known-lengths",
        (LengthOfVector,),
        faults=(
            Fault(
                "length-of-vector",
                "Reshape of a 1-D tensor of dynamic length to a known one, after `model.reshape()`",
                "is removed, and the model not compiled",
            ),
        ),
    ),
    Form("slice-static-dimensions", (StaticDimensions,), stage=PREFERRED),
    Form(
        "complete-shapes",
        (ConstantInCopiedSizes, BroadcastToScalar, ViewsOfMovedData, ViewsBeforeSequence),
        "Rewrites Reshapes that copy sizes of a constant, Broadcasts to a scalar, and views of data that is moved.",
        after=(
            "complete-slices",
            "search-along-axes",
        ),
        faults=(
            Fault("broadcast-scalar", "Broadcast to a scalar, by a target that the runtime folds", "ends the process"),
            Fault(
                "views-of-moved-data",
                "two operations of Reshape, Squeeze and Unsqueeze, or one that is a result, of a value of static sizes that is "
                "transposed for a Convolution, or resized along its second and third axis, as well",
                "what is computed of the transposed or resized value is garbage",
            ),
            Fault(
                "views-before-sequences",
                "RNNSequence, GRUSequence and LSTMSequence of transposed data of static sizes that a Concat or Reshape reads, too",
                "computes with other memory",
            ),
        ),
    ),
)
