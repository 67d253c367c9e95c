"""The layers of a block: their operations, their order and their names."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.order import sorted_operations
from moir.analysis.remaining_operations import kinds_and_names, remaining_operations
from moir.dialects.moir import ModuleLevel, NoneOp, is_none
from moir.dialects.names import escaped, name_of, split_names, tensor_names_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.errors import EmissionError


class LayerOrder:
    """The operations of a block as layers: Parameters, then the others, then Results.

    Parameters and Results keep the order of the block, which is that of the model's inputs and outputs. The others keep
    the order of the block, too, unless an operand is defined after its use; then they are sorted stably.

    Raises ConversionError for a cycle, and EmissionError for operations that IR does not have.
    """

    def __init__(self, block: Block) -> None:
        owner = block.parent_op()
        self.layers_keep_names = owner is not None and ModuleLevel.LAYERS_KEEP_NAMES in owner.attributes
        self.parameters: list[OpsetOp] = []
        self.results: list[OpsetOp] = []
        others: list[OpsetOp] = []
        groups = {"opset1.Parameter": self.parameters, "opset1.Result": self.results}
        for op in block.ops:
            if isinstance(op, OpsetOp):
                groups.get(op.name, others).append(op)
            elif not is_none(op):
                raise _foreign(block)
        self.operations = [*self.parameters, *sorted_operations(others), *self.results]

    @cached_property
    def names(self) -> list[str]:
        """Unique names of the layers. If names collide, Parameters and Results keep theirs first, then earlier layers.

        In a model that Model Optimizer extensions changed, Results come last.
        """
        names = [""] * len(self.operations)
        taken: set[str] = set()
        last: dict[str, int] = {}
        parameters, results = range(len(self.parameters)), range(len(self.operations) - len(self.results), len(self.operations))
        others = range(parameters.stop, results.start)
        for index in (*parameters, *others, *results) if self.layers_keep_names else (*parameters, *results, *others):
            op = self.operations[index]
            name = name_of(op) or f"{op.KIND}_{index}"
            if self.layers_keep_names and index in results and name in taken:
                name += "/sink_port_0"
            names[index] = _unique(name, taken, last)
        return names

    @cached_property
    def tensor_names(self) -> dict[OpResult, str]:
        """Tensor names for those inputs and outputs of the model whose operations declare none.

        Programs find the inputs and outputs of an IR by tensor names only. A tensor gets the name of its operation, or
        `<name>:<index>` if the operation has several results, unless another tensor has this name. Tensors of an
        operation that declares an empty list of names stay without a name.
        """
        unnamed = [op.results[0] for op in self.parameters] + [op.operands[0] for op in self.results]
        wanted = [value for value in dict.fromkeys(unnamed) if isinstance(value, OpResult) and "tensor_names" not in value.op.attributes]
        taken = _all_tensor_names(self.operations) if wanted else set[str]()
        names: dict[OpResult, str] = {}
        for value in wanted:
            name = name_of(value.op)
            if name is None:
                continue
            name = escaped(name) + (f":{value.index}" if len(value.op.results) > 1 else "")
            if name not in taken:
                taken.add(name)
                names[value] = name
        return names


def _foreign(block: Block) -> EmissionError:
    """The error for a block with operations of dialects that are no operation sets, bodies included; the message names
    them.
    """
    root = block.parent_op()
    assert root is not None
    left = remaining_operations(root, lambda op: not isinstance(op, OpsetOp | NoneOp))
    reason = f"operations are left that do not exist in OpenVINO IR: {kinds_and_names(left)}"
    return EmissionError(reason, hint="lower them, or cut the model before them")


def operands_of(op: Operation) -> list[SSAValue]:
    """The operands that have a port: all except absent ones at the end."""
    operands = list(op.operands)
    while operands and is_none(operands[-1].owner):
        operands.pop()
    return operands


def misplaced_operand(op: Operation) -> EmissionError:
    """The error for an operation with an operand that is not defined in its block."""
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
    """A name that is not in `taken`: `name` itself, or else `name` with a free number appended; `last` has the last
    number for each name.
    """
    candidate = name
    while candidate in taken:
        last[name] = last.get(name, 0) + 1
        candidate = f"{name}_{last[name]}"
    taken.add(candidate)
    return candidate


def _all_tensor_names(operations: Iterable[Operation]) -> set[str]:
    return {part for op in operations for names in tensor_names_of(op) for part in split_names(names)}
