"""The pieces of a conversion: the operations that compute one tensor of the model from others, in the model and in the
IR.

    source:  conv1 = Conv(x)          IR:  c = Convolution(x, w·s)
             bn1   = BatchNorm(conv1)      bn1 = Add(c, b)
             relu1 = Relu(bn1)             relu1 = Relu(bn1)

has two pieces: `bn1` from `x`, whose sides are Conv and BatchNorm, and Convolution and Add; and `relu1` from `bn1`.
Cuts are the values of the IR that have the name of a tensor of the model. Operations whose results have no such name
belong to the pieces of all cuts that depend on them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.moir import is_none
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.execution.ports import interface_of, only_model
from moir.execution.values import named_values
from moir.support.records import Record


class Cut(Record):
    """A value of the IR that is a tensor of the model.

    Args:
        name: the name of the tensor in the model.
        value: the value in the IR.
        source: the value in the model.
        outputs: the names of the model's outputs that have this value.
    """

    name: str
    value: SSAValue
    source: SSAValue
    outputs: tuple[str, ...] = ()


class Piece(Record):
    """The operations that compute one tensor.

    Args:
        cut: the tensor.
        inputs: the tensors from which it is computed, in order.
        operations: the operations of the IR, constants included, in order.
        nodes: the operations of the model, constants included, in order.
    """

    cut: Cut
    inputs: tuple[Cut, ...]
    operations: tuple[Operation, ...]
    nodes: tuple[Operation, ...]


def cuts_of(source: ModuleOp, module: ModuleOp, pairs: Iterable[tuple[str, SSAValue, SSAValue]] = ()) -> list[Cut]:
    """The cuts of an IR, in the order in which it computes them; constants and inputs included.

    Args:
        source: the model, in the dialect of its framework or lowered.
        module: the converted model.
        pairs: further tensors of both, by a name: the value of the IR, and that of the model.
    """
    tensors = named_values(only_model(source).block)
    cuts: dict[SSAValue, Cut] = {}
    for name, value in named_values(only_model(module).block, nodes=False).items():
        if name in tensors and value not in cuts:
            cuts[value] = Cut(name, value, tensors[name])
    for name, value, counterpart in _outputs(source, module):
        known = cuts.get(value)
        outputs = (*(known.outputs if known is not None else ()), name)
        cuts[value] = known.with_fields(outputs=outputs) if known is not None else Cut(name, value, counterpart, outputs)
    for name, value, counterpart in pairs:
        cuts.setdefault(value, Cut(name, value, counterpart))
    order = {value: index for index, value in enumerate(_values(module))}
    return sorted(cuts.values(), key=lambda cut: order[cut.value])


def _values(module: ModuleOp) -> Iterable[SSAValue]:
    return (result for op in only_model(module).block.ops for result in op.results)


def _outputs(source: ModuleOp, module: ModuleOp) -> list[tuple[str, SSAValue, SSAValue]]:
    """The outputs that both sides have: the name in the model, the value of the IR, the value of the model."""
    ports = interface_of(source).outputs, interface_of(module).outputs
    values = [[op.operands[0] for op in only_model(each).block.ops if isinstance(op, Result)] for each in (source, module)]
    by_name = {name: index for index, port in reversed(list(enumerate(ports[0]))) for name in port.names}
    results: list[tuple[str, SSAValue, SSAValue]] = []
    for index, port in enumerate(ports[1]):
        same = index if len(ports[0]) == len(ports[1]) else None
        number = next((by_name[name] for name in port.names if name in by_name), same)
        if number is not None:
            results.append((ports[0][number].name, values[1][index], values[0][number]))
    return results


class Cutting:
    """A model and an IR that are cut into pieces.

    Args:
        cuts: the cuts.
        source: the model.
        module: the converted model.
    """

    def __init__(self, cuts: Iterable[Cut], source: ModuleOp, module: ModuleOp) -> None:
        chosen = list(cuts)
        self._by_value = {cut.value: cut for cut in chosen}
        self._by_source = {cut.source: cut for cut in chosen}
        self._source_order, self._order = (_order(each) for each in (source, module))

    def piece(self, cut: Cut) -> Piece:
        """The piece that computes the tensor of a cut from other cuts."""
        operations, inputs = _cone(cut.value, self._by_value, self._order)
        nodes, _ = _cone(cut.source, self._by_source, self._source_order)
        return Piece(cut, inputs, operations, nodes)

    def at(self, value: SSAValue) -> Cut | None:
        """The cut at a value of the IR; None if the value was never cut at, or the cut was dropped."""
        return self._by_value.get(value)

    def has(self, cut: Cut) -> bool:
        """Whether a cut exists, that is, has not been dropped."""
        return cut.value in self._by_value

    def drop(self, cut: Cut) -> None:
        """Remove a cut; the operations that compute it then belong to the pieces that read it."""
        self._by_value.pop(cut.value, None)
        self._by_source.pop(cut.source, None)


def _order(module: ModuleOp) -> dict[Operation, int]:
    """The indices of the operations of a model in its block."""
    return {op: index for index, op in enumerate(only_model(module).block.ops)}


def uncovered(module: ModuleOp, pieces: Iterable[Piece]) -> list[Operation]:
    """The operations of an IR that belong to no piece, without inputs, outputs and constants."""
    covered = {op for piece in pieces for op in piece.operations}
    ports = (Parameter, Result, Constant)
    return [op for op in only_model(module).block.ops if op not in covered and not isinstance(op, ports) and not is_none(op)]


def _cone(value: SSAValue, cuts: Mapping[SSAValue, Cut], order: Mapping[Operation, int]) -> tuple[tuple[Operation, ...], tuple[Cut, ...]]:
    """The operations that compute a value from cuts and inputs, and the cuts that these read. Constants are not treated
    as cuts.

    Args:
        value: the value.
        cuts: the cuts, by their values.
        order: the index of each operation in the block, by which the result is sorted.
    """
    operations: set[Operation] = set()
    inputs: dict[SSAValue, Cut] = {}
    pending = [value.owner] if isinstance(value.owner, Operation) else []
    while pending:
        op = pending.pop()
        if op in operations or isinstance(op, Parameter):
            continue
        operations.add(op)
        for operand in _read(op):
            cut = cuts.get(operand)
            if cut is not None and not isinstance(operand.owner, Constant):
                inputs[operand] = cut
            elif isinstance(operand, OpResult):
                pending.append(operand.op)
    ordered = sorted((op for op in operations if op in order), key=order.__getitem__)
    return tuple(ordered), tuple(sorted(inputs.values(), key=lambda cut: _index(cut, order)))


def _index(cut: Cut, order: Mapping[Operation, int]) -> int:
    """The index, in `order`, of the operation that computes a cut, in the IR or in the model; -1 if it is in
    neither.
    """
    owners = (cut.value.owner, cut.source.owner)
    return next((order[owner] for owner in owners if isinstance(owner, Operation) and owner in order), -1)


def _read(op: Operation) -> list[SSAValue]:
    """The values that an operation reads, including those that its bodies capture."""
    values = list(op.operands)
    if op.regions:
        inside = set(op.walk())
        values += [operand for each in inside for operand in each.operands if isinstance(operand, OpResult) and operand.op not in inside]
    return values
