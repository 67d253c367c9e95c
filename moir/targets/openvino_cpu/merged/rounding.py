"""Roundings that the CPU plugin merges into products of quantized values."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.fake_quantize import merged_before
from moir.targets.record import BF16, Fault, Form

_VIEWS = frozenset(("Reshape", "Squeeze", "Unsqueeze"))
_MOVED = _VIEWS | {"Transpose"}


class RoundingAfterProduct(Pattern):
    """Rounds the magnitudes of products of quantized values, and gives them their signs.

        %p = opset1.MatMul(opset1.FakeQuantize(…), …)
        %y = opset5.Round(%p) {mode = half_away_from_zero}
    ->  %0 = opset5.Round(opset1.Abs(%p)) {mode = half_away_from_zero}
        %y = opset1.Multiply(opset1.Sign(%p), %0)

    The plugin merges the Round into the product, where it loses the sign.
    """

    roots = ("opset5.Round",)
    companions = ((FakeQuantize,),)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, OpsetOp)
        return op.text("mode") == "half_away_from_zero" and _is_of_quantized_product(op.operands[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        x, build = op.operands[0], rewriter.op
        magnitude = build.Round(build.Abs(x), mode="half_away_from_zero")
        rewriter.replace_with(op, build.Multiply(build.Sign(x), magnitude))


def _is_of_quantized_product(value: SSAValue) -> bool:
    """Whether a value is a MatMul or convolution with a quantized operand, perhaps followed by operations with
    constants.
    """
    product = merged_before(value, _VIEWS).owner
    return isinstance(product, MatMul | ConvolutionOp) and any(_is_quantized(each) for each in product.operands)


def _is_quantized(value: SSAValue) -> bool:
    """Whether a FakeQuantize computes a value, perhaps followed by operations that only move elements."""
    owner = value.owner
    while isinstance(owner, OpsetOp) and owner.KIND in _MOVED:
        owner = owner.operands[0].owner
    return isinstance(owner, FakeQuantize)


FORMS = (
    Form(
        "round-magnitudes",
        (RoundingAfterProduct,),
        faults=(
            Fault(
                "rounded-sign",
                "Round in mode `half_away_from_zero` after a MatMul or Convolution of quantized values",
                "loses the sign",
                feature=BF16,
            ),
        ),
    ),
)
