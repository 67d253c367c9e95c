"""Quantized tensors in the form that the CPU plugin computes in integers."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, scalar_of
from moir.dialects.element_types import si8
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Transpose
from moir.dialects.opset.shape import Reshape
from moir.dialects.quantization import IntegerRange
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class RangeOfSignedIntegers(Pattern):
    """Dequantizes int8 data of a convolution or matrix product by a FakeQuantize.

        %c = opset1.Convert(%q)                                     // %q: si8, not a constant
        %y = opset1.Multiply(opset1.Subtract(%c, -5.0), 0.5)
    ->  %y = opset1.FakeQuantize(%c, -128, 127, -61.5, 66.0) {levels = 256}

    Otherwise the plugin executes the first convolution of a model with such an input in f32.
    """

    roots = (Multiply,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Multiply)
        scale, shifted = scalar_of(op.operands[1]), op.operands[0].owner
        zero = scalar_of(shifted.operands[1]) if isinstance(shifted, Subtract) else 0.0
        converted = shifted.operands[0].owner if isinstance(shifted, Subtract) else shifted
        if scale is None or zero is None or not scale > 0 or not isinstance(converted, Convert):
            return
        integers = converted.operands[0]
        if element_of(integers) != si8 or constant_of(integers) is not None or not feeds_product(op.results[0]):
            return
        ends = IntegerRange.of(si8).ends
        numbers = [(end - zero) * scale for end in ends]
        limits = (rewriter.op.constant_like(float(each), op.results[0]) for each in (*ends, *numbers))
        rewriter.replace_with(op, rewriter.op.FakeQuantize(converted.results[0], *limits, levels=256))


def feeds_product(value: SSAValue) -> bool:
    """Whether each use of a value is the data of a convolution or product, perhaps after a Transpose or Reshape."""
    waiting, is_used = [value], False
    while waiting:
        for use in waiting.pop().uses:
            user = use.operation
            if use.index == 0 and isinstance(user, Transpose | Reshape):
                waiting.append(user.results[0])
            elif use.index == 0 and isinstance(user, Convolution | GroupConvolution | MatMul):
                is_used = True
            else:
                return False
    return is_used


FORMS = (Form("dequantize-by-fake-quantize", (RangeOfSignedIntegers,), stage=PREFERRED),)
