"""Zero points of filters that the CPU plugin does not read."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_quantized_weight
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.convolution import ConvolutionBackpropData
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.openvino_cpu.quantized_values import has_no_zero_point, is_quantized
from moir.targets.record import Fault, Form

_MOVING = frozenset(("Reshape", "Transpose"))


class TransposedConvolutionByZeroPoints(Pattern):
    """Separates quantized data from a transposed convolution by filters with a zero point.

        %0 = opset1.FakeQuantize(%x, 0.0, 2.55, 0.0, 2.55)
        %y = opset1.ConvolutionBackpropData(%0, %w)              // %w: (si8 - 11) by a factor
    ->  %y = opset1.ConvolutionBackpropData(opset1.Maximum(-inf, %0), %w)

    The plugin computes such a convolution in integers of 8 bits as if the zero points were 0. Declines for data with a
    zero point of their own, of which it computes floats, as it does of filters of groups.
    """

    roots = (ConvolutionBackpropData,)
    companions = ((FakeQuantize,), (Subtract,))

    def may_match(self, op: Operation) -> bool:
        data, filters, *_ = op.operands
        if is_computed_identity(data) or not _has_zero_point(filters):
            return False
        return is_quantized(data) and has_no_zero_point(data)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        data, *others = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(ConvolutionBackpropData, [same, *others], dict(op.properties)).results[0])


def _has_zero_point(filters: SSAValue) -> bool:
    """Whether filters are dequantized integers with a zero point that may not be 0."""
    while isinstance(owner := filters.owner, OpsetOp) and (owner.KIND in _MOVING or isinstance(owner, Multiply)):
        filters = owner.operands[0]
    if not isinstance(owner, Subtract) or not is_quantized_weight(filters):
        return False
    zero_point = constant_of(owner.operands[1])
    return zero_point is None or bool((zero_point != 0).any())


FORMS = (
    Form(
        "separate-zero-points",
        (TransposedConvolutionByZeroPoints,),
        faults=(
            Fault(
                "zero-points-of-filters",
                "ConvolutionBackpropData of a FakeQuantize by integers of 8 bits with a zero point",
                "takes the zero point of the filters for 0",
            ),
        ),
    ),
)
