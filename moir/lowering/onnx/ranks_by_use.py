"""The rank that a tensor must have because of the operations that use it, before these are lowered.

    %y = onnx.If(%c) …          a matrix in one branch, three dimensions in the other
    %u = onnx.Unsqueeze(%y, [0])
    %h = onnx.LSTM(%u, …)       takes three dimensions, so that %y has two

A model that reads a tensor of another rank would fail in its framework, too.

Source: the operators' definitions, https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_count, rank_of, shape_of

_MAXIMUM_TENSORS = 64
"""The number of tensors that are asked about one."""

Ask = Callable[[SSAValue], "int | None"]
"""The rank of another tensor, which may be asked of its uses."""

Rule = Callable[[FrameworkOp, int, Ask], "int | None"]
"""The rank of an operand of an operation, by its index."""


def rank_by_use(value: SSAValue) -> int | None:
    """The rank that the type of a tensor, or else its uses, say; None if none does, or they contradict each other."""
    found: dict[SSAValue, int | None] = {}

    def ask(value: SSAValue) -> int | None:
        if value not in found:
            rank = found[value] = rank_of(value)
            if rank is None and len(found) < _MAXIMUM_TENSORS:
                found[value] = _agreed(_rank_of_operand(use.operation, use.index, ask) for use in value.uses)
        return found[value]

    return ask(value)


def _agreed(ranks: Iterable[int | None]) -> int | None:
    """The rank that all say which say one."""
    found = set(ranks) - {None}
    return found.pop() if len(found) == 1 else None


def _rank_of_operand(op: Operation, index: int, ask: Ask) -> int | None:
    if not isinstance(op, FrameworkOp) or (rule := _RULES.get(op.KIND)) is None:
        return None
    return rule(op, index, ask)


def _fixed(*ranks: int | None) -> Rule:
    return lambda _op, index, _ask: ranks[index] if index < len(ranks) else None


def _as_result(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return ask(op.results[0]) if index == 0 else None


def _as_filters(op: FrameworkOp, index: int, _ask: Ask) -> int | None:
    return rank_of(op.operands[1]) if index == 0 else None


def _as_permutation(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return len(value_of(op.properties["perm"])) if "perm" in op.properties else _as_result(op, index, ask)


def _as_window(op: FrameworkOp, _index: int, _ask: Ask) -> int | None:
    return len(value_of(op.properties["kernel_shape"])) + 2 if "kernel_shape" in op.properties else None


def _broadcast(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """That of the result, which is the largest of the operands' ranks, if all others are smaller."""
    result = ask(op.results[0])
    others = [rank_of(each) for number, each in enumerate(op.operands) if number != index]
    return result if result is not None and all(other is not None and other < result for other in others) else None


def _as_factor(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A matrix as the other factor leaves the rank of the result as it is."""
    result, other = ask(op.results[0]), rank_of(op.operands[1 - index])
    if result is None or other is None:
        return None
    if other == 1:
        return result + 1
    return result if other == 2 or result > other else None


def _as_neighbour(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    rank = _agreed(rank_of(each) for number, each in enumerate(op.operands) if number != index)
    return ask(op.results[0]) if rank is None else rank


def _axis_count(op: FrameworkOp) -> int | None:
    """The number of axes in the attribute or the operand; None if it is not said."""
    if "axes" in op.properties:
        return len(value_of(op.properties["axes"]))
    return element_count(shape_of(op.operands[1])) if len(op.operands) > 1 and isinstance(op.operands[1].owner, Constant) else None


def _with_axes(sign: int) -> Rule:
    def rule(op: FrameworkOp, index: int, ask: Ask) -> int | None:
        result, count = ask(op.results[0]), _axis_count(op)
        return None if index or result is None or count is None else result + sign * count

    return rule


def _reduced(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    keeps = "keepdims" not in op.properties or bool(value_of(op.properties["keepdims"]))
    return _as_result(op, index, ask) if keeps else _with_axes(1)(op, index, ask)


def _gathered(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    result, indices = ask(op.results[0]), rank_of(op.operands[1])
    return None if index or result is None or indices is None else result + 1 - indices


def _captured(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """What the graphs of the node need that capture the operand. Their last Parameters are those of captured values."""
    place = index - len(op.operands)
    if index < len(op.operands) - (value_of(op.properties["captured"]) if "captured" in op.properties else 0):
        return None
    return _agreed(ask(parameters_of(region.block)[place].results[0]) for region in op.regions)


_RECURRENT = _fixed(3, 3, 3, 2, 1, 3, 3)
_LIKE_RESULT = """
Abs BatchNormalization Cast Celu Clip Dropout Elu Erf Exp Floor GroupNormalization Gelu HardSigmoid HardSwish Identity
InstanceNormalization LayerNormalization LeakyRelu Log LogSoftmax Mish Neg Not Pad Reciprocal Relu Round Selu Sigmoid Slice Softmax
Softplus Softsign Sqrt Tanh ThresholdedRelu CumSum
"""
_BROADCASTING = "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor"
_REDUCING = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"

_RULES: dict[str, Rule] = {
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "RNN": _RECURRENT,
    "Conv": _as_filters,
    "ConvTranspose": _as_filters,
    "AveragePool": _as_window,
    "MaxPool": _as_window,
    "Gemm": _fixed(2, 2),
    "MatMul": _as_factor,
    "Transpose": _as_permutation,
    "Concat": _as_neighbour,
    "Unsqueeze": _with_axes(-1),
    "Squeeze": _with_axes(1),
    "Gather": _gathered,
    **dict.fromkeys(("If", "Loop", "Scan"), _captured),
    **dict.fromkeys(_LIKE_RESULT.split(), _as_result),
    **dict.fromkeys(_BROADCASTING.split(), _broadcast),
    **dict.fromkeys(_REDUCING.split(), _reduced),
}
"""What each kind says about its operands."""
