"""Transposes that the CPU plugin merges with operations beside them, wrongly."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_quantized_weight
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.opset.convolution import Convolution
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import element_of, rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.dequantization import has_single_elements
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form

TO_CHANNELS_LAST, TO_CHANNELS_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


class TransposesOfCompressedConvolution(Pattern):
    """Separates a convolution by kernels of one element, whose weights are compressed, from Transposes beside it.

        %0 = opset1.Convolution(%x, %w)                          // %w: [8, 4, 1, 1], integers by a factor
        %y = opset1.Transpose(%0, [0, 2, 1, 3])
    ->  %y = opset1.Transpose(opset1.Maximum(-inf, %0), [0, 2, 1, 3])

    The plugin computes such a convolution as a matrix product of data with channels last. It takes any Transpose before
    it for the one to channels first, and any after it for the one to channels last.
    """

    roots = (Convolution,)
    companions = ((Transpose,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, Convolution)
        if rank_of(op.operands[0]) != 4 or not has_single_elements(op) or not is_quantized_weight(op.operands[1]):
            return False
        return _differs(op.operands[0].owner, TO_CHANNELS_FIRST) or _has_other_transpose(op.results[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *others = op.operands
        if _differs(data.owner, TO_CHANNELS_FIRST):
            data = computed_identity(rewriter.op, data)
        result = rewriter.op.create(Convolution, [data, *others], dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, result) if _has_other_transpose(op.results[0]) else result)


def _has_other_transpose(value: SSAValue) -> bool:
    """Whether a value is transposed in another way than to channels last."""
    return any(_differs(use.operation, TO_CHANNELS_LAST) for use in value.uses)


def _differs(op: object, order: list[int]) -> bool:
    """Whether an operation is a Transpose whose order is not constant, or a constant other than `order`."""
    if not isinstance(op, Transpose):
        return False
    known = constant_of(op.operands[1])
    return known is None or known.tolist() != order


class ShuffledDynamicChannels(Pattern):
    """Separates a Transpose of the second dimension, which is unknown, and the third from the Reshapes beside it.

        %0 = opset1.Reshape(%x, [1, -1, 4, 12])                  // [1, ?, 4, 12]
        %1 = opset1.Transpose(%0, [0, 2, 1, 3])
        %y = opset1.Reshape(%1, [1, -1, 4, 3])
    ->  %y = opset1.Reshape(opset1.Maximum(-inf, %1), [1, -1, 4, 3])

    The runtime takes the three for a ShuffleChannels if the first dimension is known, and does not compile the model,
    since it computes with the number of groups.
    """

    roots = (Reshape,)
    companions = ((Transpose,),)

    def may_match(self, op: Operation) -> bool:
        transpose = op.operands[0].owner
        if not isinstance(transpose, Transpose) or element_of(op.operands[0]) not in REAL_TYPES:
            return False
        order, divided = constant_of(transpose.operands[1]), transpose.operands[0]
        if order is None or order.tolist() != [0, 2, 1, *range(3, order.size)] or not isinstance(divided.owner, Reshape):
            return False
        shape = shape_of(divided)
        return shape is not None and shape[1] < 0 <= shape[0]

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, target = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(Reshape, [same, target], dict(op.properties)).results[0])


FORMS = (
    Form(
        "separate-transposes",
        (TransposesOfCompressedConvolution, ShuffledDynamicChannels),
        "Separates Transposes from compressed convolutions and Reshapes that the plugin merges with them.",
        after=("normalize-columns",),
        faults=(
            Fault(
                "transposed-compressed-convolution",
                "Convolution of images by kernels of one element, which are integers by a factor, before or after a Transpose",
                "has its channels at another axis, or is not compiled",
            ),
            Fault(
                "shuffled-unknown-groups",
                "Transpose of two dimensions between Reshapes, where only the first of the two is unknown",
                "is not compiled",
            ),
        ),
    ),
)
