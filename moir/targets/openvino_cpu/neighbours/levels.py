"""Quantized numbers that the CPU plugin computes in integers of 8 bits, which rounds them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.dialects.element_types import REAL_TYPES, si8, ui8
from moir.dialects.opset.activation import Clamp
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.pooling import AvgPool, AvgPool1, AvgPool14, AvgPoolOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity, rectified_identity
from moir.targets.record import Form

MOVED = frozenset(("BatchToSpace", "Concat", "DepthToSpace", "Gather", "MaxPool", "Pad", "Relu", "Reshape", "ShuffleChannels", "Slice",
                   "SpaceToBatch", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze",
                   "VariadicSplit"))  # fmt: skip
"""Operations through which the plugin moves factors, and which it computes of levels of quantization as they are."""

COMPUTED = MOVED | {"Add", "AvgPool", "Clamp", "Divide", "Interpolate", "Multiply", "Negative", "PRelu", "ReduceMax", "ReduceMean",
                    "ReduceMin", "Subtract"}  # fmt: skip
"""Operations whose results the plugin may compute in integers of 8 bits if an operand is quantized."""


class FactorsOfAverages(Pattern):
    """Computes a PRelu of slope 1 between factors of several signs and an AvgPool in a quantized model.

        %1 = opset1.Multiply(%0, %c)                         // %c: [1, 4, 1, 1], some of its numbers are negative
        %2 = opset1.AvgPool(%1)
        %3 = opset1.FakeQuantize(%2, %low, %high, %low, %high)
    ->  %4 = opset1.PRelu(%1, [1])
        %2 = opset1.AvgPool(%4)

    The plugin moves the factors through the AvgPool into the limits of the FakeQuantize, which is wrong for negative
    ones. It computes the PRelu together with the product.
    """

    roots = (Multiply, Divide)
    companions = ((AvgPool, AvgPool1, AvgPool14), (FakeQuantize,))

    def may_match(self, op: Operation) -> bool:
        factors = [each for each in (constant_of(value) for value in op.operands) if each is not None and each.size > 1]
        return any((each < 0).any() for each in factors) and any(isinstance(each, AvgPoolOp) for each in _ends(op.results[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, rectified_identity(rewriter.op, same))


class AverageOfLevels(Pattern):
    """Computes an identity behind an AvgPool of quantized numbers whose result is not quantized again.

        %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high)
        %2 = opset1.AvgPool(%1)
        %3 = opset1.Negative(%2)
    ->  %4 = opset1.Maximum(-inf, %2)
        %3 = opset1.Negative(%4)

    The plugin computes the average in integers of 8 bits, which rounds it to one of the levels, if it takes what
    follows for quantization. It computes the Maximum together with what follows.
    """

    roots = (AvgPool, AvgPool1, AvgPool14)

    def may_match(self, op: Operation) -> bool:
        return _is_quantized(op.operands[0]) and any(not isinstance(each, FakeQuantize | Result) for each in _ends(op.results[0]))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same))


class LimitsOfLevels(Pattern):
    """Computes an identity between quantized numbers and a Clamp.

        %1 = opset1.FakeQuantize(%0, %low, %high, %low, %high)
        %2 = opset1.Clamp(%1) {min = -0.5, max = 0.7}
    ->  %3 = opset1.Maximum(-inf, %1)
        %2 = opset1.Clamp(%3) {min = -0.5, max = 0.7}

    The plugin computes the Clamp in integers of 8 bits, with limits that it rounds to levels. It computes the Maximum
    together with the FakeQuantize and the Clamp.
    """

    roots = (Clamp,)

    def may_match(self, op: Operation) -> bool:
        return _is_quantized(op.operands[0]) and element_of(op.operands[0]) in REAL_TYPES

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        same = computed_identity(rewriter.op, op.operands[0])
        rewriter.replace_with(op, rewriter.op.create(Clamp, [same], dict(op.properties)).results[0])


def _ends(value: SSAValue) -> Iterator[Operation]:
    """The operations that use a value, or what operations make of it through which the plugin moves quantization."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, OpsetOp) and user.KIND in MOVED:
            for result in user.results:
                yield from _ends(result)
        elif user.name != "opset3.ShapeOf":
            yield user


def _is_quantized(value: SSAValue) -> bool:
    """Whether a value is rounded to levels, or computed of integers of 8 bits by constants."""
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, FakeQuantize) or element_of(value) in _BYTES:
            return True
        computed = [each for each in owner.operands if not is_constant(each)]
        if owner.KIND not in COMPUTED or not computed:
            return False
        value = computed[0]
    return element_of(value) in _BYTES


_BYTES = (si8, ui8)

FORMS = (
    Form(
        "separate-levels",
        (FactorsOfAverages, AverageOfLevels, LimitsOfLevels),
        "Computes an identity between averages of quantized numbers, or before they are limited, and their neighbours.",
    ),
)
