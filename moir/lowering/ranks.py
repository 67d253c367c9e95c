"""The rank of a tensor, inferred from the operations that use it, before these are lowered.

    %y = onnx.If(%c) …          a matrix in one branch, three dimensions in the other
    %u = onnx.Unsqueeze(%y, [0])
    %h = onnx.LSTM(%u, …)       takes three dimensions, so that %y has two

A model that reads a tensor of another rank would fail in its framework, too. The rule for the ranks of the operands of
a kind stands at the registration of its lowering.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xdsl.ir import Operation, SSAValue

from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import set_type
from moir.dialects.moir import ModelOp, add_notes
from moir.dialects.names import name_of
from moir.dialects.opset.control_flow import parameters_of
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, rank_of, tensor, unknown_dimensions

_MAXIMUM_TENSORS = 64
"""The maximum number of tensors that are examined to infer the rank of one."""

Ask = Callable[[SSAValue], "int | None"]
"""A function that returns the rank of another tensor, from its type or its uses; None if it is dynamic."""

Rule = Callable[[FrameworkOp, int, Ask], "int | None"]
"""A function that returns the rank of an operand of an operation, given its index."""

Rules = Callable[[str], "Rule | None"]
"""The rules of a framework, by kind."""


def rank_by_use(value: SSAValue, rules: Rules) -> int | None:
    """The rank of a tensor from its type, or from its uses, according to the rules of the operations that use it.

    None if both leave it dynamic, or uses contradict each other.
    """
    ranks: dict[SSAValue, int | None] = {}

    def of_operand(op: Operation, index: int) -> int | None:
        rule = rules(op.KIND) if isinstance(op, FrameworkOp) else None
        if rule is None or not isinstance(op, FrameworkOp):
            return None
        try:
            return rule(op, index, ask)
        except (TypeError, ValueError, AttributeError, IndexError):
            # An attribute of a wrong type, or too few operands, for which the lowering raises an error.
            return None

    def ask(value: SSAValue) -> int | None:
        if value not in ranks:
            rank = ranks[value] = rank_of(value)
            if rank is None and len(ranks) < _MAXIMUM_TENSORS:
                ranks[value] = agreed(of_operand(use.operation, use.index) for use in value.uses)
        return ranks[value]

    return ask(value)


def rank_inputs(model: ModelOp, rules: Rules) -> None:
    """Give inputs of dynamic rank the rank that their uses require according to `rules`, with a note."""
    inputs: list[str] = []
    for parameter in parameters_of(model.block):
        value = parameter.results[0]
        if rank_of(value) is None and (rank := rank_by_use(value, rules)) is not None:
            set_type(value, tensor(unknown_dimensions(rank), element_of(value)))
            inputs.append(f"{name_of(parameter)} ({rank})")
    if inputs:
        add_notes(model, [f"inputs have the number of dimensions that their use needs: {', '.join(inputs)}"])


def agreed(ranks: Iterable[int | None]) -> int | None:
    """The common rank of those that are static; None if all are dynamic or some differ."""
    distinct = set(ranks) - {None}
    return distinct.pop() if len(distinct) == 1 else None


def fixed(*ranks: int | None) -> Rule:
    """Build a rule: the operands of a kind always have these ranks, in their order; None stands for any rank."""
    return lambda _op, index, _ask: ranks[index] if index < len(ranks) else None


def as_result(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule: operand 0 has the rank that `ask` gives for the result. None for all other operands."""
    return ask(op.results[0]) if index == 0 else None


def broadcast(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule for broadcasting operations, whose result has the largest rank of the operands.

    An operand has the rank of the result if no other operand does. None if another operand or the result has a dynamic
    rank, or another operand has the rank of the result.
    """
    result = ask(op.results[0])
    others = [rank_of(each) for position, each in enumerate(op.operands) if position != index]
    if result is None or None in others:
        return None
    largest = max((other for other in others if other is not None), default=0)
    return result if largest < result or largest == 0 else None


def as_factor(op: FrameworkOp, index: int, ask: Ask) -> int | None:
    """A rule for a factor of a matrix product: its rank follows from the ranks of the other factor and of the result.

    None if several ranks are possible.
    """
    result, other = ask(op.results[0]), rank_of(op.operands[1 - index])
    if result is None or other is None:
        return None
    if other == 1:
        return result + 1
    return result if other == 2 or result > other else None


def as_terms(op: FrameworkOp, index: int, _ask: Ask) -> int | None:
    """A rule for an operand of an Einsum: its rank is the number of its letters in the equation; None if there is an
    ellipsis.
    """
    equation: str = value_of(op.properties["equation"]) if "equation" in op.properties else ""
    terms = equation.split("->")[0].split(",")
    return None if index >= len(terms) or "." in terms[index] else len(terms[index].replace(" ", ""))
