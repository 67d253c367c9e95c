"""Values at the boundaries of the bodies of If, Loop and TensorIterator.

A state of a loop is one tensor in four roles: operand of the loop, Parameter of the body, Result of the body, result of
the loop. Its permutation can change only in all four at once, so that they form one `BodyBoundary`. Every other input
or output of a body forms one with the operand or result that it is connected to.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue

from moir.dialects.moir import BodyPort, BodyPortAttr
from moir.dialects.opset.control_flow import If, RepeatingOp, parameters_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.shapes import rank_of
from moir.passes.layout.orders import Order
from moir.passes.layout.permuted import moved_axis


class BodyBoundary:
    """The operands and results that hold one tensor at the boundary of bodies."""

    def __init__(self, operation: Operation, operands: Sequence[tuple[Operation, int]] = (), results: Sequence[SSAValue] = ()) -> None:
        self.operation = operation
        self.operands = list(operands)
        """Operands, as operation and operand index: of the operation with the bodies, and of Results in the bodies."""
        self.results = list(results)
        """Connected results: those of the operation with the bodies, and those of Parameters in the bodies."""
        self.inputs: list[int] = []
        """Indices of the input connections of a loop."""
        self.outputs: list[int] = []
        """Indices of the output connections of a loop."""

    def values(self) -> list[SSAValue]:
        """All values at the boundary, which have one permutation."""
        return [*(op.operands[index] for op, index in self.operands), *self.results]

    def accepts(self, order: Order) -> bool:
        """Whether the tensor can be permuted, that is, all its values have the rank of the permutation."""
        return all(rank_of(value) == len(order) for value in self.values())

    def move_slices(self, order: Order) -> None:
        """Renumber the dimensions along which the connections slice and concatenate, for transposed values."""
        for name, numbers in (("inputs", self.inputs), ("outputs", self.outputs)):
            if numbers and isinstance(self.operation, RepeatingOp):
                ports = self.operation.ports(name)
                for number in numbers:
                    ports[number] = _moved(ports[number], order)
                self.operation.properties[name] = ArrayAttr([BodyPortAttr(port) for port in ports])


def _moved(port: BodyPort, order: Order) -> BodyPort:
    if port.slicing is None:
        return port
    return port.with_fields(slicing=port.slicing.with_fields(axis=moved_axis(port.slicing.axis, order)))


def results_in(op: Operation, region: int) -> list[Result]:
    """The Result operations of the body in region `region`, in order."""
    return [each for each in op.regions[region].block.ops if isinstance(each, Result)]


def body_ports(op: Operation) -> list[BodyBoundary]:
    """The boundaries of an operation with bodies; empty for every other kind of operation."""
    if isinstance(op, If):
        return _ports_of_if(op)
    return _ports_of_loop(op) if isinstance(op, RepeatingOp) else []


def _ports_of_if(op: If) -> list[BodyBoundary]:
    inputs: dict[int, BodyBoundary] = {}
    for name, body in (("then_inputs", op.then_body), ("else_inputs", op.else_body)):
        for parameter, index in zip(parameters_of(body.block), op.integers(name), strict=True):
            port = inputs.setdefault(index, BodyBoundary(op, [(op, index)]))
            port.results.append(parameter.results[0])
    outputs = [
        BodyBoundary(op, [(then, 0), (otherwise, 0)], [result])
        for then, otherwise, result in zip(results_in(op, 0), results_in(op, 1), op.results, strict=True)
    ]
    return [*inputs.values(), *outputs]


def _ports_of_loop(op: RepeatingOp) -> list[BodyBoundary]:
    inputs, outputs = op.ports("inputs"), op.ports("outputs")
    body_results = results_in(op, 0)
    by_result: dict[int, BodyBoundary] = {}
    by_operand: dict[int, BodyBoundary] = {}
    ports: list[BodyBoundary] = []

    def port_of_result(index: int) -> BodyBoundary:
        if index not in by_result:
            by_result[index] = BodyBoundary(op, [(body_results[index], 0)])
            ports.append(by_result[index])
        return by_result[index]

    for number, (port, parameter) in enumerate(zip(inputs, parameters_of(op.block), strict=True)):
        if port.index is None:
            continue
        if port.back_edge is not None:
            port_tensor = port_of_result(port.back_edge)
        elif port.index in by_operand:
            port_tensor = by_operand[port.index]
        else:
            port_tensor = BodyBoundary(op)
            ports.append(port_tensor)
        if port.index in by_operand and by_operand[port.index] is not port_tensor:
            # The operand initializes two states: both share one permutation.
            port_tensor = _joined(by_operand[port.index], port_tensor, ports, by_result, by_operand)
        if port.index not in by_operand:
            port_tensor.operands.append((op, port.index))
        by_operand[port.index] = port_tensor
        port_tensor.results.append(parameter.results[0])
        port_tensor.inputs.append(number)
    for number, (port, result) in enumerate(zip(outputs, op.results, strict=True)):
        port_tensor = port_of_result(port.index or 0)
        port_tensor.results.append(result)
        port_tensor.outputs.append(number)
    return [port for port in ports if not _decides(op, port)]


def _joined(kept: BodyBoundary, other: BodyBoundary, ports: list[BodyBoundary], *tables: dict[int, BodyBoundary]) -> BodyBoundary:
    ports.remove(other)
    kept.operands.extend(operand for operand in other.operands if operand not in kept.operands)
    for name in ("results", "inputs", "outputs"):
        getattr(kept, name).extend(getattr(other, name))
    for table in tables:
        table.update({index: kept for index, port in table.items() if port is other})
    return kept


def _decides(op: RepeatingOp, port: BodyBoundary) -> bool:
    """Whether a boundary contains the condition of a loop, which cannot be permuted."""
    condition: Sequence[Result] = [results_in(op, 0)[op.integer("condition")]] if "condition" in op.properties else []
    return any(owner in condition for owner, _ in port.operands)
