"""Removal of unread inputs and unused outputs of bodies, for dead-code elimination."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, Operation

from moir.analysis.constants import constant_of
from moir.dialects.moir import BodyPort, BodyPortAttr
from moir.dialects.names import names_of, tensor_names_of
from moir.dialects.opset.control_flow import If, Loop, RepeatingOp, parameters_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import integer_attribute, integers_attribute, strings_attribute


def prune_outputs(op: Operation) -> None:
    """Erase trailing results of a loop that are concatenated outputs without uses, with their Results in the body."""
    if not isinstance(op, RepeatingOp):
        return
    outputs = op.ports("outputs")
    while len(outputs) > 1 and outputs[-1].slicing is not None and op.results[-1].first_use is None and not names_of(op.results[-1]):
        number = outputs.pop().index
        if "tensor_names" in op.attributes:
            op.attributes["tensor_names"] = strings_attribute(tensor_names_of(op)[: len(outputs)])
        op.results = op.results[:-1]
        back_edges = [port.back_edge for port in op.ports("inputs")]
        condition = op.integer("condition") if isinstance(op, Loop) else None
        if number is not None and number not in (*back_edges, condition, *(port.index for port in outputs)):
            outputs = _without_result(op, number, outputs)
        op.properties["outputs"] = ArrayAttr([BodyPortAttr(port) for port in outputs])


def _without_result(op: RepeatingOp, number: int, outputs: Sequence[BodyPort]) -> list[BodyPort]:
    """Erase the Result of a body with this index, which no output port refers to; returns `outputs` with the new
    indices of Results.
    """
    result = [each for each in op.block.ops if isinstance(each, Result)][number]
    result.detach()
    result.erase()

    def renumbered(index: int | None) -> int | None:
        return index if index is None or index < number else index - 1

    inputs = [port.with_fields(back_edge=renumbered(port.back_edge)) for port in op.ports("inputs")]
    op.properties["inputs"] = ArrayAttr([BodyPortAttr(port) for port in inputs])
    if isinstance(op, Loop):
        condition = op.integer("condition")
        op.properties["condition"] = integer_attribute(condition - (condition > number))
    return [port.with_fields(index=renumbered(port.index)) for port in outputs]


def prune_inputs(op: Operation) -> None:
    """Erase the inputs of an operation that its bodies do not read.

    Operations of framework dialects keep all inputs.
    """
    if isinstance(op, If):
        _prune_if(op)
    elif isinstance(op, RepeatingOp):
        _prune_repeating(op)


def _erase_unread(body: Block, needed: Collection[int] = ()) -> list[int]:
    """Erase unused Parameters of a body, except those in `needed`; returns the indices of the remaining ones."""
    kept: list[int] = []
    for index, parameter in enumerate(parameters_of(body)):
        if index in needed or parameter.results[0].uses:
            kept.append(index)
        else:
            parameter.detach()
            parameter.erase()
    return kept


def _renumber(op: Operation, used: set[int], first: int) -> dict[int, int]:
    """Erase the operands from index `first` on whose indices are not in `used`; returns the new index of each remaining
    one.
    """
    kept = [index for index in range(len(op.operands)) if index < first or index in used]
    if len(kept) < len(op.operands):
        op.operands = [op.operands[index] for index in kept]
    return {old: new for new, old in enumerate(kept)}


def _prune_if(op: If) -> None:
    inputs = {
        name: [op.integers(name)[index] for index in _erase_unread(body.block)]
        for name, body in (("then_inputs", op.then_body), ("else_inputs", op.else_body))
    }
    numbers = _renumber(op, {index for indices in inputs.values() for index in indices}, first=1)
    for name, indices in inputs.items():
        op.properties[name] = integers_attribute(tuple(numbers[index] for index in indices))


def _results_without_iterations(op: RepeatingOp) -> set[int]:
    """The indices of the inputs whose initial values are results of a Loop that may have no iterations."""
    if not isinstance(op, Loop):
        return set()
    limits = [constant_of(each) for each in op.operands[: op.FIRST_ARGUMENT]]
    if all(each is not None and bool(each.all()) for each in limits):
        return set()
    used = {port.index for port, result in zip(op.ports("outputs"), op.results, strict=True) if port.slicing is None and result.uses}
    return {index for index, port in enumerate(op.ports("inputs")) if port.back_edge is not None and port.back_edge in used}


def _prune_repeating(op: RepeatingOp) -> None:
    ports = op.ports("inputs")
    # A sliced input determines the number of iterations even if the body does not read it.
    for port, parameter in zip(ports, parameters_of(op.block), strict=True):
        if port.slicing is not None and not parameter.results[0].uses:
            return
    kept: list[BodyPort] = [ports[index] for index in _erase_unread(op.block, _results_without_iterations(op))]
    numbers = _renumber(op, {port.index for port in kept if port.index is not None}, first=op.FIRST_ARGUMENT)
    renumbered = [port if port.index is None else port.with_fields(index=numbers[port.index]) for port in kept]
    op.properties["inputs"] = ArrayAttr([BodyPortAttr(port) for port in renumbered])
