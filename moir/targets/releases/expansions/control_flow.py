"""Loops that may have no iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.control_flow import Loop
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import shape_of
from moir.expansions.shape_values import as_scalar
from moir.rewriting.builder import OpBuilder


def initial_states(op: OpBuilder, node: OpsetOp) -> Sequence[SSAValue]:
    """The results of a Loop, of which the states are those that it begins with if it has no iterations.

    %y = opset5.Loop(%n, %condition, %x) (…)
    ->  %0 = opset5.Loop(%n, %condition, %x) (…)
        %y = opset1.Select(%condition and %n != 0, %0, %x)
    """
    assert isinstance(node, Loop)
    states = states_without_iterations(node)
    count, condition = node.operands[:2]
    runs = as_scalar(op, condition)
    known = constant_of(count)
    if known is None or not known.all():
        runs = op.LogicalAnd(runs, op.NotEqual(as_scalar(op, count), 0))
    loop = node.clone()
    for name in ("name", "tensor_names"):
        loop.attributes.pop(name, None)
    op.insert(loop)
    return [op.Select(runs, result, states[index]) if index in states else result for index, result in enumerate(loop.results)]


def states_without_iterations(node: Loop) -> Mapping[int, SSAValue]:
    """The initial values of a Loop's states, by index of the result that equals the state if the Loop runs no
    iteration.

    Results of dynamic shape are left out, and so are those whose users are already Selects of the initial value. Empty
    if the Loop is known to have an iteration.
    """
    limits = [constant_of(each) for each in node.operands[:2]]
    if all(each is not None and bool(each.all()) for each in limits):
        return {}
    initial = {port.back_edge: node.operands[port.index] for port in node.ports("inputs") if port.back_edge is not None and port.index}
    states: dict[int, SSAValue] = {}
    for index, port in enumerate(node.ports("outputs")):
        value = initial.get(port.index or 0) if port.slicing is None else None
        result = node.results[index]
        if value is None or shape_of(value) != shape_of(result) or min(shape_of(value) or (), default=0) < 0:
            continue
        if all(use.operation.name == "opset1.Select" and use.operation.operands[2] is value for use in result.uses):
            continue
        states[index] = value
    return states
