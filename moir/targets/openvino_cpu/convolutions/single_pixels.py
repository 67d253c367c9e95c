"""Constants of channels that the CPU plugin applies wrongly to quantized convolutions whose result has one pixel."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.activation import PRelu
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, is_computed_identity
from moir.targets.openvino_cpu.quantized_values import are_quantized_filters, is_quantized
from moir.targets.record import Fault, Form


class ChannelsOfSinglePixel(Pattern):
    """Separates slopes and limits of channels from a quantized convolution whose result may have a single pixel.

        %1 = opset1.Convolution(%0, %w)                      // %0: what a FakeQuantize rounds; %1: [?, 4, 1, 1]
        %y = opset1.PRelu(%1, %slopes)                       // %slopes: [4]
    ->  %y = opset1.PRelu(opset1.Maximum(-inf, %1), %slopes)

    The plugin computes a PRelu or FakeQuantize with constants for channels as a part of the convolution before it. If
    the result is one image of one pixel, it applies other constants. This holds for shapes that are dynamic and become
    that of such an image, and for some static ones.
    """

    roots = (PRelu, FakeQuantize)
    companions = ((ConvolutionOp,), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        data, *constants = op.operands
        shape = shape_of(data)
        if shape is not None and (shape[:1] not in ((1,), (-1,)) or not {*shape[2:]} <= {1, -1}):
            return False
        if all(set(shape_of(each) or ()) <= {1} for each in constants):
            return False
        product = _convolution_before(data)
        return product is not None and are_quantized_filters(product.operands[1]) and is_quantized(product.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *constants = op.operands
        same = computed_identity(rewriter.op, data)
        rewriter.replace_with(op, rewriter.op.create(type(op), [same, *constants], dict(op.properties)).results[0])


def _convolution_before(value: SSAValue) -> ConvolutionOp | None:
    """The convolution with which the plugin merges the elementwise operations that compute a value; None if there is no
    such convolution, or an identity separates it already.
    """
    while isinstance(owner := value.owner, OpsetOp) and not is_computed_identity(value):
        if isinstance(owner, ConvolutionOp):
            return owner
        computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
        if len(computed) != 1 or not (owner.POINTWISE or owner.BROADCASTS or isinstance(owner, PRelu | FakeQuantize)):
            return None
        value = computed[0]
    return None


FORMS = (
    Form(
        "separate-single-pixels",
        (ChannelsOfSinglePixel,),
        after=("separate-fake-quantize", "separate-slopes", "fit-fake-quantize-limits"),
        faults=(
            Fault(
                "slopes-of-single-pixels",
                "PRelu with several slopes of a quantized convolution of dynamic shape whose result is an image of one pixel",
                "has other slopes",
            ),
            Fault(
                "levels-of-single-pixels",
                "FakeQuantize with several limits of a quantized convolution of dynamic shape whose result is an image of one pixel",
                "is in levels, or has other ones",
            ),
        ),
    ),
)
