"""Pooling that the CPU plugin swaps with operations before or after it."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of, is_constant
from moir.analysis.uses import live_uses
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.pooling import MaxPool, MaxPool1, MaxPool8
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

RISING = frozenset(("Clamp", "Elu", "HSigmoid", "PRelu", "Relu", "Round", "Sigmoid", "SoftPlus", "Tanh"))
"""Activations that the plugin merges into a convolution and that are monotonic, some of them for some parameters only.
"""

NOT_RISING = frozenset(("Abs", "Gelu", "HSwish", "Mish", "Sqrt", "Swish"))
"""Activations that the plugin merges into a convolution, and which are not monotonic, or are NaN somewhere."""

MOVEMENTS = frozenset(("BatchToSpace", "Broadcast", "Convert", "DepthToSpace", "Gather", "Reshape", "ShuffleChannels", "SpaceToBatch",
                       "SpaceToDepth", "Split", "Squeeze", "Transpose", "Unsqueeze", "VariadicSplit"))  # fmt: skip
"""Operations that only move elements: the plugin may compute an activation before them."""

MERGED_BEFORE = frozenset(("Add", "BatchNormInference", "Convert", "Divide", "Multiply", "Reshape", "Squeeze", "Subtract", "Unsqueeze"))
"""Operations that the plugin may merge into the convolution before them, as a change of its weights or bias."""


class ActivationOfMaxima(Pattern):
    """Inserts a Clamp without limits before a MaxPool between a convolution and an activation that is not monotonic.

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
    """Whether a value is computed by a convolution, possibly followed by operations that the plugin merges into it."""
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, Convolution | GroupConvolution):
            return True
        computed = [each for each in owner.operands if not is_constant(each)]
        if owner.KIND not in MERGED_BEFORE or len(computed) != 1:
            return False
        (value,) = computed
    return False


def _does_not_rise(value: SSAValue) -> bool:
    """Whether the activation of a value, as the plugin may recognize it, is not known to be monotonically
    increasing.
    """
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
    """Whether an activation, with its parameters, is known to be monotonically increasing."""
    if op.KIND == "Elu":
        return op.number("alpha") >= 0
    if op.KIND == "PRelu":
        slopes = constant_of(op.operands[1])
        return slopes is not None and bool(np.all(slopes >= 0))
    return True


FORMS = (
    Form(
        "clamp-before-pooling",
        (ActivationOfMaxima,),
        faults=(
            Fault(
                "maximum-of-activations",
                "MaxPool of a Convolution or GroupConvolution, then an activation that is not monotonic, perhaps after others that are",
                "is the MaxPool of the activation",
            ),
        ),
    ),
)
