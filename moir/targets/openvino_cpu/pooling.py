"""Pooling that the CPU plugin computes in another order than the operations around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.analysis.uses import live_uses
from moir.dialects.element_types import si8, ui8
from moir.dialects.opset.arithmetic import Divide, Multiply
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.pooling import AvgPool, AvgPool1, AvgPool14, AvgPoolOp, MaxPool, MaxPool1, MaxPool8
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.identity import computed_identity, rectified_identity
from moir.targets.record import Form

RISING = frozenset(("Clamp", "Elu", "HSigmoid", "PRelu", "Relu", "Round", "Sigmoid", "SoftPlus", "Tanh"))
"""Activations that the plugin merges into a convolution; some of them rise only for some parameters."""

NOT_RISING = frozenset(("Abs", "Gelu", "HSwish", "Mish", "Sqrt", "Swish"))
"""Activations that the plugin merges into a convolution, and which do not rise everywhere, or are NaN somewhere."""

MOVEMENTS = frozenset(("BatchToSpace", "Broadcast", "Convert", "DepthToSpace", "Gather", "Reshape", "ShuffleChannels", "SpaceToBatch",
                       "SpaceToDepth", "Split", "Squeeze", "Transpose", "Unsqueeze", "VariadicSplit"))  # fmt: skip
"""Operations that only move elements: the plugin may compute an activation before them."""

MERGED_BEFORE = frozenset(("Add", "BatchNormInference", "Convert", "Divide", "Multiply", "Reshape", "Squeeze", "Subtract", "Unsqueeze"))
"""Operations that may become a part of the convolution before them: its weights and its bias."""


class ActivationOfMaxima(Pattern):
    """Inserts a Clamp without limits before a MaxPool between a convolution and an activation that does not rise
    everywhere.

        %1 = opset1.MaxPool(%0)                              // %0: the result of a Convolution, perhaps plus a bias
        %2 = opset7.Gelu(%1)
    ->  %3 = opset1.Clamp(%0) {min = -inf, max = inf}
        %1 = opset1.MaxPool(%3)

    The plugin computes the activation as a part of the convolution, before the MaxPool, which is right only for
    functions that rise. It does not so if another operation is between the convolution and the MaxPool; a Clamp becomes
    a part of the convolution later.
    """

    roots = (MaxPool, MaxPool8, MaxPool1)
    companions = ((Convolution, GroupConvolution),)

    def may_match(self, op: Operation) -> bool:
        return _is_convolution(op.operands[0]) and _does_not_rise(op.results[0])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        data, *others = op.operands
        limitless = rewriter.op.Clamp(data, min=float("-inf"), max=float("inf"))
        rewriter.replace_with(op, rewriter.op.create(type(op), [limitless, *others], dict(op.properties)).results)


def _is_convolution(value: SSAValue) -> bool:
    """Whether a value is that of a convolution, with operations that the plugin may merge into it."""
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, Convolution | GroupConvolution):
            return True
        computed = [each for each in owner.operands if not is_constant(each)]
        if owner.KIND not in MERGED_BEFORE or len(computed) != 1:
            return False
        (value,) = computed
    return False


def _does_not_rise(value: SSAValue) -> bool:
    """Whether what the plugin may take for the activation of a value does not rise everywhere, as far as is known."""
    users = [use.operation for use in live_uses(value) if use.operation.name != "opset3.ShapeOf"]
    if len(users) > 1:
        # The runtime may make one activation of them: x · sigmoid(x).
        return all(isinstance(user, OpsetOp) and (user.POINTWISE or user.BROADCASTS) for user in users)
    if not users or not isinstance(user := users[0], OpsetOp):
        return False
    if user.KIND in MOVEMENTS or (user.KIND in RISING and _rises(user)):
        return any(_does_not_rise(result) for result in user.results)
    return user.KIND in RISING or user.KIND in NOT_RISING


def _rises(op: OpsetOp) -> bool:
    """Whether an activation rises, given its parameters."""
    if op.KIND == "Elu":
        return op.number("alpha") >= 0
    if op.KIND == "PRelu":
        slopes = constant_of(op.operands[1])
        return slopes is not None and bool(np.all(slopes >= 0))
    return True


PASSED = MOVEMENTS | {"Concat", "MaxPool", "Pad", "Relu", "Slice", "StridedSlice"}
"""Operations through which the plugin moves factors, or levels of quantization."""


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
        same = rewriter.op.create(type(op), list(op.operands), dict(op.properties)).results[0]
        rewriter.replace_with(op, computed_identity(rewriter.op, same))


def _ends(value: SSAValue) -> Iterator[Operation]:
    """The operations that use a value, or what operations make of it through which the plugin moves quantization."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, OpsetOp) and user.KIND in PASSED:
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
        if (owner.KIND not in PASSED and owner.KIND not in ("Add", "Multiply", "Subtract")) or not computed:
            return False
        value = computed[0]
    return element_of(value) in _BYTES


_BYTES = (si8, ui8)

FORMS = (
    Form("clamp-before-pooling", (ActivationOfMaxima,)),
    Form(
        "separate-averages",
        (FactorsOfAverages, AverageOfLevels),
        "Computes an identity between an AvgPool and factors, or what follows, in quantized models.",
    ),
)
