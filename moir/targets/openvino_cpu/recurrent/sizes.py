"""Recurrent sequences with dynamic dimensions that the CPU plugin does not infer from other operands."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.recurrent import GRUSequence, LSTMSequence, RNNSequence, SequenceOp, Sizes
from moir.dialects.shapes import shape_of
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class DimensionsOfOtherOperands(Pattern):
    """Reshapes operands of a recurrent sequence to the sizes that its other operands and attributes imply.

        %y, %h = opset5.RNNSequence(%x, %h0, …)                      // %x: [?, 5, ?], %h0: [2, 1, H], W: [1, H, 3]
    ->  %0 = opset1.Reshape(%x, [2, 0, 3]) {special_zero = true}
        %y, %h = opset5.RNNSequence(%0, %h0, …)

    The plugin does not compile a sequence of a dynamic number of rows, or with weights of dynamic shape, and
    computes a wrong result without the size of the inputs.
    """

    roots = (GRUSequence, LSTMSequence, RNNSequence)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, SequenceOp)
        sizes = op.sizes([shape_of(each) for each in op.operands])
        stated = [[_size(op, axis, sizes) for axis in axes] for axes in op.OPERANDS]
        # The lengths [N] may be dynamic.
        operands = [
            value if len(each) == 1 else _of_sizes(rewriter.op, value, each) for value, each in zip(op.operands, stated, strict=True)
        ]
        if operands != list(op.operands):
            rewriter.replace_with(op, rewriter.op.create(type(op), operands, dict(op.properties), len(op.results)).results)


def _size(op: SequenceOp, axis: str, sizes: Sizes) -> int:
    """The size of an axis, given by its letter (N, T, I, H, …); -1 if it is dynamic."""
    hidden = op.integer("hidden_size")
    match axis:
        case "G":
            return op.GATES * hidden
        case "B":
            return op.bias_gates() * hidden
        case "H":
            return hidden
        case _:
            size = sizes[axis]
            return size if isinstance(size, int) else -1


def _of_sizes(op: OpBuilder, value: SSAValue, sizes: list[int]) -> SSAValue:
    """The operand reshaped to `sizes`; the operand itself if all these dimensions are static already."""
    shape = shape_of(value)
    if shape is None:
        return op.Reshape(value, sizes, special_zero=False) if sizes.count(-1) <= 1 else value
    if not any(old < 0 <= new for old, new in zip(shape, sizes, strict=True)):
        return value
    return op.Reshape(value, [max(old, new, 0) for old, new in zip(shape, sizes, strict=True)], special_zero=True)


FORMS = (
    Form(
        "state-sequence-sizes",
        (DimensionsOfOtherOperands,),
        faults=(
            Fault(
                "sequence-sizes",
                "RNNSequence, GRUSequence and LSTMSequence of a dynamic number of rows whose states have a static one, or with "
                "weights of dynamic shape",
                "are not compiled",
            ),
        ),
    ),
)
