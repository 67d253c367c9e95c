"""Target shapes that the CPU plugin handles wrongly."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.element_types import si64
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_count, element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
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


FORMS = (
    Form(
        "complete-shapes",
        "Writes Reshapes that copy sizes of a constant, and Broadcasts to a scalar, in forms that run.",
        lambda: [ConstantInCopiedSizes(), BroadcastToScalar()],
    ),
)
