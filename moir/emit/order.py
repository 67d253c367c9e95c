"""The layers of a block: which operations become layers, in which order, under which names."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from functools import cached_property
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from moir.dialects.assembly import name_of
from moir.dialects.moir import is_none
from moir.dialects.opset.base import OpsetOp
from moir.errors import EmissionError


class LayerOrder:
    """The operations of a block as layers: Parameters, then the others, then Results.

    The order of Parameters and Results is that of the block, and so that of the inputs and outputs of the model. The others keep the
    order of the block, too, unless an operand comes from below; then they are sorted stably. Raises EmissionError for a cycle.
    """

    def __init__(self, block: Block) -> None:
        self.parameters: list[OpsetOp] = []
        self.results: list[OpsetOp] = []
        others: list[OpsetOp] = []
        groups = {"opset1.Parameter": self.parameters, "opset1.Result": self.results}
        for op in block.ops:
            if isinstance(op, OpsetOp):
                groups.get(op.name, others).append(op)
        self.operations = [*self.parameters, *_sorted(others), *self.results]

    @cached_property
    def names(self) -> list[str]:
        """The names of the layers, each only once: Parameters and Results have the first choice, then it is by order."""
        names = [""] * len(self.operations)
        taken: set[str] = set()
        last: dict[str, int] = {}
        outer = [*range(len(self.parameters)), *range(len(self.operations) - len(self.results), len(self.operations))]
        for index in (*outer, *range(len(self.parameters), len(self.operations) - len(self.results))):
            op = self.operations[index]
            names[index] = _unique(name_of(op) or f"{op.name.partition('.')[2]}_{index}", taken, last)
        return names

    @cached_property
    def tensor_names(self) -> dict[OpResult, str]:
        """Names for inputs and outputs of the model whose operation says none: the runtime finds both only by names of tensors.

        A tensor gets the name of its operation, of several results `<name>:<index>`, unless another tensor has that name already.
        """
        unnamed = [op.results[0] for op in self.parameters] + [op.operands[0] for op in self.results]
        wanted = [value for value in dict.fromkeys(unnamed) if isinstance(value, OpResult) and not has_tensor_names(value)]
        taken = _all_tensor_names(self.operations) if wanted else set[str]()
        found: dict[OpResult, str] = {}
        for value in wanted:
            name = name_of(value.op)
            if name is None:
                continue
            name = name.replace(",", "\\,") + (f":{value.index}" if len(value.op.results) > 1 else "")
            if name not in taken:
                taken.add(name)
                found[value] = name
        return found


def tensor_names_of(op: Operation) -> list[str]:
    """The names of the result tensors of an operation, as they stand in the IR; fewer than results, or none, if there are no more."""
    attribute = op.attributes.get("tensor_names")
    if not isinstance(attribute, ArrayAttr):
        return []
    return [item.data if isinstance(item, StringAttr) else "" for item in cast("ArrayAttr[Attribute]", attribute)]


def has_tensor_names(value: OpResult) -> bool:
    """Whether the operation says names for this result."""
    names = tensor_names_of(value.op)
    return value.index < len(names) and names[value.index] != ""


def operands_of(op: Operation) -> list[SSAValue]:
    """The operands that have a port: all but absent ones at the end."""
    operands = list(op.operands)
    while operands and is_none(operands[-1].owner):
        operands.pop()
    return operands


def misplaced_operand(op: Operation) -> EmissionError:
    """The error for an operation with an operand that no layer of its block produces."""
    for index, operand in enumerate(op.operands):
        if is_none(operand.owner):
            return EmissionError(
                f"operand {index} is absent although later ones are present, which the IR cannot express",
                operation=op.name,
                node=name_of(op),
                hint="give a constant with the operand's default value",
            )
    return EmissionError("an operand comes from outside its block", operation=op.name, node=name_of(op))


def _unique(name: str, taken: set[str], last: dict[str, int]) -> str:
    """The name, or the name with the first free number behind it."""
    candidate = name
    while candidate in taken:
        last[name] = last.get(name, 0) + 1
        candidate = f"{name}_{last[name]}"
    taken.add(candidate)
    return candidate


def _all_tensor_names(operations: Iterable[Operation]) -> set[str]:
    return {part for op in operations for names in tensor_names_of(op) for part in names.replace("\\,", "\0").split(",")}


def _sorted(operations: list[OpsetOp]) -> list[OpsetOp]:
    """The operations, each behind the producers of its operands; as they are if that holds already."""
    position: dict[Operation, int] = {op: index for index, op in enumerate(operations)}
    producers = [[position[v.op] for v in op.operands if isinstance(v, OpResult) and v.op in position] for op in operations]
    if all(index > source for index, sources in enumerate(producers) for source in sources):
        return operations
    waiting = [len(sources) for sources in producers]
    consumers: list[list[int]] = [[] for _ in operations]
    for index, sources in enumerate(producers):
        for source in sources:
            consumers[source].append(index)
    ready = [index for index, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for consumer in consumers[index]:
            waiting[consumer] -= 1
            if waiting[consumer] == 0:
                heapq.heappush(ready, consumer)
    if len(order) < len(operations):
        first = operations[next(index for index, count in enumerate(waiting) if count > 0)]
        raise EmissionError("it is part of a cycle, or behind one", operation=first.name, node=name_of(first))
    return [operations[index] for index in order]
