"""Shapes that the CPU plugin handles wrongly, and sizes that it computes in each inference although they are known."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.element_types import REAL_TYPES, si64
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.shapes import element_count, element_of, is_static, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Form


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

    For the Transpose the plugin reads %x in place, in another layout; if there are two views, or if a view is a
    result, the memory then has other data. A maximum with minus infinity is the number itself, also for NaN as the
    second operand.
    """

    roots = ("opset1.Transpose", "opset1.Interpolate", "opset4.Interpolate", "opset11.Interpolate")

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        if element_of(data) not in REAL_TYPES or not is_static(shape_of(data) or (-1,)) or isinstance(data.owner, Constant | Parameter):
            return False
        views = [use.operation for use in data.uses if use.operation.name.endswith(_VIEWS)]
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


_VIEWS = (".Reshape", ".Squeeze", ".Unsqueeze")


class KnownSizes(Pattern):
    """Selects adjacent sizes, all of which are known, from a shape by a StridedSlice.

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
        places = _places(op, len(shape), rewriter)
        if not places or places != list(range(places[0], places[-1] + 1)) or min(shape[place] for place in places) < 0:
            return
        masks = {"begin_mask": [0], "end_mask": [0], "shrink_axis_mask": [int(shape_of(op.results[0]) == ())]}
        rewriter.replace_with(op, rewriter.op.StridedSlice(op.operands[0], [places[0]], [places[-1] + 1], **masks))


def _places(op: Operation, rank: int, rewriter: Rewriter) -> list[int] | None:
    """The dimensions that an operation selects from a shape of a rank; None if they are not known."""
    numbers = [rewriter.known.integers(each) for each in op.operands[1:]]
    if any(each is None for each in numbers):
        return None
    if op.name == "opset8.Slice":
        begin, end, step = (each[0] for each in numbers[:3] if each)
        return list(range(rank))[begin:end:step]
    return [place % rank for place in numbers[0] or ()]


FORMS = (
    Form("slice-known-sizes", (KnownSizes,)),
    Form(
        "complete-shapes",
        (ConstantInCopiedSizes, BroadcastToScalar, ViewsOfMovedData),
        "Rewrites Reshapes that copy sizes of a constant, Broadcasts to a scalar, and views of data that is moved.",
    ),
)
