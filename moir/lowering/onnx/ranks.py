"""Rules for the ranks of operands of ONNX operators, for inputs of dynamic rank.

Source: the operators' definitions, https://onnx.ai/onnx/operators/
"""

from __future__ import annotations

from moir.dialects.framework import FrameworkOp
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_count, rank_of, shape_of
from moir.lowering.ranks import Ask, Rule, agreed, as_result


def as_filters(op: FrameworkOp, index: int, _ask: Ask) -> int | None:
    return rank_of(op.operands[1]) if index == 0 else None


def permuted(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return len(value_of(op.properties["perm"])) if "perm" in op.properties else as_result(op, index, ask)


def as_window(op: FrameworkOp, _index: int, _ask: Ask) -> int | None:
    return len(value_of(op.properties["kernel_shape"])) + 2 if "kernel_shape" in op.properties else None


def with_statistics(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    return 1 if index else as_result(op, index, ask)


def as_neighbour(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    rank = agreed(rank_of(each) for position, each in enumerate(op.operands) if position != index)
    return ask(op.results[0]) if rank is None else rank


def _axis_count(op: FrameworkOp) -> int | None:
    """The number of axes in the attribute or the operand `axes`; None if it is dynamic."""
    if "axes" in op.properties:
        return len(value_of(op.properties["axes"]))
    return element_count(shape_of(op.operands[1])) if len(op.operands) > 1 and isinstance(op.operands[1].owner, Constant) else None


def with_axes(sign: int) -> Rule:
    def rule(op: FrameworkOp, index: int, ask: Ask) -> int | None:
        result, count = ask(op.results[0]), _axis_count(op)
        return None if index or result is None or count is None else result + sign * count

    return rule


def reduced(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    keeps = "keepdims" not in op.properties or bool(value_of(op.properties["keepdims"]))
    return as_result(op, index, ask) if keeps else with_axes(1)(op, index, ask)


def gathered(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    result, indices = ask(op.results[0]), rank_of(op.operands[1])
    return None if index or result is None or indices is None else result + 1 - indices
