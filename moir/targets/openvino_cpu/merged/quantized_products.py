"""Products of quantized matrices whose scales and zero points the CPU plugin does not move past operations."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import is_quantized_weight
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import rank_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.merged.operands import rounding_of
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.openvino_cpu.quantized_values import has_no_zero_point
from moir.targets.record import Fault, Form


class UnsqueezedProduct(Pattern):
    """Computes an identity between a quantized matrix product and dimensions of 1 that are added behind the last one.

        %0 = opset1.MatMul(%x, %w)                               // [2, 3, 8]; %x and %w are quantized
        %y = opset1.Reshape(%0, [2, 3, 8, 1])
    ->  %y = opset1.Reshape(opset1.Maximum(-inf, %0), [2, 3, 8, 1])

    The plugin moves the scales of the columns behind the new dimensions, along an axis that is not that of the columns,
    and then does not compile the model. Declines for matrices, and where another dimension than the first is dynamic.
    """

    roots = ("opset1.Reshape", "opset1.Unsqueeze")
    companions = ((MatMul,), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        data = op.operands[0]
        before, after = shape_of(data), shape_of(op.results[0])
        if before is None or after is None or len(before) < 3 or -1 in before[1:] or after == before:
            return False
        added = after[len(before) :]
        return after[: len(before)] == before and set(added) == {1} and _is_quantized_product(_unscaled(data))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


class GatheredProduct(Pattern):
    """Computes an identity between a quantized matrix product and a Gather with several indices.

        %0 = opset1.MatMul(%x, %w)                               // %x: quantized with a zero point; %w: si8 by a scalar
        %y = opset8.Gather(%0, [0], 1)
    ->  %y = opset8.Gather(opset1.Maximum(-inf, %0), [0], 1)

    The plugin ends the process when it moves the scale, which is one number, and the zero points of the columns behind
    the Gather. Declines where the data have no zero point, where the columns have scales of their own, and for a single
    index.
    """

    roots = ("opset1.Gather", "opset7.Gather", "opset8.Gather")
    companions = ((MatMul,), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        data, indices, *_ = op.operands
        if rank_of(indices) == 0 or not isinstance(data.owner, MatMul) or not _is_quantized_product(data):
            return False
        factor, weights = data.owner.operands
        return not has_no_zero_point(factor) and not _has_scales(weights)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        _separate(op, rewriter)


def _separate(op: Operation, rewriter: Rewriter) -> None:
    """Insert an identity between an operation and its first operand."""
    assert isinstance(op, OpsetOp)
    data, *others = op.operands
    same = computed_identity(rewriter.op, data)
    rewriter.replace_with(op, rewriter.op.create(type(op), [same, *others], dict(op.properties)).results)


def _unscaled(value: SSAValue) -> SSAValue:
    """The value before all products and quotients with constants that compute a value; the value itself if there are
    none.
    """
    while isinstance(owner := value.owner, Multiply | Divide):
        computed = [each for each in owner.operands if not isinstance(each.owner, Constant)]
        if len(computed) != 1:
            break
        (value,) = computed
    return value


def _is_quantized_product(value: SSAValue) -> bool:
    """Whether a value is the product of a quantized value and dequantized weights."""
    owner = value.owner
    return isinstance(owner, MatMul) and is_quantized_weight(owner.operands[1]) and rounding_of(owner.operands[0]) is not None


def _has_scales(weights: SSAValue) -> bool:
    """Whether dequantized weights have a scale for each column or row, rather than one scale for all."""
    owner = weights.owner
    return isinstance(owner, Multiply) and any(size != 1 for size in shape_of(owner.operands[1]) or ())


FORMS = (
    Form(
        "separate-moved-products",
        (UnsqueezedProduct, GatheredProduct),
        "Inserts an identity between quantized matrix products and operations past which the plugin cannot move their scales.",
        faults=(
            Fault(
                "unsqueezed-products",
                "Reshape and Unsqueeze of a quantized MatMul of three dimensions or more, which add dimensions behind the last one",
                "are not compiled",
            ),
            Fault(
                "gathered-products",
                "Gather of a list of indices of a MatMul of a FakeQuantize with a zero point and weights of 8 bits with one scale",
                "ends the process",
            ),
        ),
    ),
)
