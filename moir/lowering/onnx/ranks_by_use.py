"""Ranks of inputs of unknown rank, inferred from the ONNX operators that use them.

Source: the operators' definitions, https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.lowering.control_flow.ranks_by_use import Ask, Rule, Rules, agreed, as_factor, as_result, as_terms, broadcast, fixed


def _as_filters(op: FrameworkOp, index: int, _ask: Ask) -> int | None:
    return rank_of(op.operands[1]) if index == 0 else None


def _as_permutation(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return len(value_of(op.properties["perm"])) if "perm" in op.properties else as_result(op, index, ask)


def _as_window(op: FrameworkOp, _index: int, _ask: Ask) -> int | None:
    return len(value_of(op.properties["kernel_shape"])) + 2 if "kernel_shape" in op.properties else None


def _normalized(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return 1 if index else as_result(op, index, ask)


def _as_neighbour(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    rank = agreed(rank_of(each) for number, each in enumerate(op.operands) if number != index)
    return ask(op.results[0]) if rank is None else rank


def _axis_count(op: FrameworkOp) -> int | None:
    """The number of axes in the attribute or the operand; None if it is unknown."""
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
    return as_result(op, index, ask) if keeps else _with_axes(1)(op, index, ask)


def _gathered(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    result, indices = ask(op.results[0]), rank_of(op.operands[1])
    return None if index or result is None or indices is None else result + 1 - indices


def _captured(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """The rank that an operand captured by the graphs of a node needs there. The last Parameters are captured values.

    The condition of an If is a scalar.
    """
    place = index - len(op.operands)
    if index < len(op.operands) - (value_of(op.properties["captured"]) if "captured" in op.properties else 0):
        return 0 if op.KIND == "If" else None
    return agreed(ask(parameters_of(region.block)[place].results[0]) for region in op.regions)


_RECURRENT = fixed(3, 3, 3, 2, 1, 3, 3)
_LIKE_RESULT = """
Abs Cast Celu Clip Dropout Elu Erf Exp Floor GroupNormalization Gelu HardSigmoid HardSwish Identity
LayerNormalization LeakyRelu Log LogSoftmax Mish Neg Not Pad Reciprocal Relu Round Selu Sigmoid Slice Softmax
Softplus Softsign Sqrt Tanh ThresholdedRelu CumSum
"""
_BROADCASTING = "Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or PRelu Pow Sub Sum Where Xor"
_REDUCING = "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare"

RULES: Rules = {
    "LSTM": _RECURRENT,
    "GRU": _RECURRENT,
    "RNN": _RECURRENT,
    "BatchNormalization": _normalized,
    "InstanceNormalization": _normalized,
    "Conv": _as_filters,
    "ConvTranspose": _as_filters,
    "AveragePool": _as_window,
    "MaxPool": _as_window,
    "DepthToSpace": fixed(4),
    "Einsum": as_terms,
    "Expand": fixed(None, 1),
    "Gemm": fixed(2, 2),
    "MatMul": as_factor,
    "NonMaxSuppression": fixed(3, 3, 0, 0, 0),
    "Reshape": fixed(None, 1),
    "RoiAlign": fixed(4, 2, 1),
    "SpaceToDepth": fixed(4),
    "Tile": fixed(None, 1),
    "Transpose": _as_permutation,
    "Concat": _as_neighbour,
    "Unsqueeze": _with_axes(-1),
    "Squeeze": _with_axes(1),
    "Gather": _gathered,
    **dict.fromkeys(("If", "Loop", "Scan"), _captured),
    **dict.fromkeys(_LIKE_RESULT.split(), as_result),
    **dict.fromkeys(_BROADCASTING.split(), broadcast),
    **dict.fromkeys(_REDUCING.split(), _reduced),
}
