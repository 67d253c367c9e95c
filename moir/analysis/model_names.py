"""Looks up the inputs, outputs, ports and tensors of a model by the names that users write (`Place`).

Names are compared without any normalization. A name that exists takes precedence over its interpretation as a name with
a port: `x:0` is the tensor `x:0` where there is one, else output port 0 of the node `x`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from moir.dialects.moir import NoneOp, all_blocks, is_none
from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.errors import ConversionError
from moir.parameters.input_notation import Place
from moir.support.suggestions import alternatives, did_you_mean

_FEW = 3


@dataclass(frozen=True)
class InputPort:
    """An input port of a node: the node and the index of an operand."""

    op: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        """The tensor that enters the port."""
        return self.op.operands[self.number]


class ModelNames:
    """The names in a model's block at the time of construction.

    Args:
        block: the block of a model.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.parameters = [op for op in block.ops if isinstance(op, Parameter)]
        self.results = [op for op in block.ops if isinstance(op, Result)]
        self._nodes: dict[str, list[Operation]] = {}
        self._tensors: dict[str, SSAValue] = {}
        for op in block.ops:
            if not isinstance(op, Result | NoneOp) and (name := name_of(op)):
                self._nodes.setdefault(name, []).append(op)
            for result in op.results:
                for each in names_of(result):
                    self._tensors.setdefault(each, result)
        self._outputs: dict[str, SSAValue] = {name: op.operands[0] for op in self.results if (name := name_of(op))}

    def has(self, name: str) -> bool:
        """Whether a node, a tensor or an output has a name."""
        return name in self._nodes or name in self._tensors or name in self._outputs

    def is_tensor(self, name: str) -> bool:
        """Whether a tensor has a name."""
        return name in self._tensors

    # Inputs

    def input_at(self, place: Place, index: int) -> Parameter | InputPort | SSAValue:
        """The input, the input port or the tensor that a place denotes. Raises ConversionError unless there is exactly
        one.

        Args:
            place: the place; if it has no name, it denotes the model's input of this index.
            index: the index.
        """
        if not place.text:
            if index >= len(self.parameters):
                count = f"{len(self.parameters)} input{'' if len(self.parameters) == 1 else 's'}"
                raise ConversionError(f"the model has {count}, so there is no input {index}", hint=f"they are {self._inputs()}")
            return self.parameters[index]
        for name, into, out in place.readings():
            if into is None and out is None:
                if (port := self._input(name)) is not None:
                    return port
            elif name in self._nodes:
                return self._port(self._node(name), into) if into is not None else self._result(self._node(name), out or 0)
        raise self._absent(place)

    def parameter_at(self, place: Place, index: int) -> Parameter:
        """The input of the model that a place denotes, see `input_at`.

        Raises ConversionError if it is not an input of the model.
        """
        port = self.input_at(place, index)
        if not isinstance(port, Parameter):
            raise ConversionError(f"{str(place)!r} is not an input of the model", hint="cut-inputs makes it one")
        return port

    def _input(self, name: str) -> Parameter | InputPort | SSAValue | None:
        known = self._nodes.get(name, [])
        parameters = [op for op in known if isinstance(op, Parameter)]
        parameters += [op for op in self.parameters if name in names_of(op.results[0]) and op not in parameters]
        if parameters:
            return parameters[0]
        if known and not (name not in self._tensors and isinstance(known[0], Constant)):
            op = self._node(name)
            return op.results[0] if isinstance(op, Constant) else self._only_port(op)
        value = self._tensors.get(name) or self._outputs.get(name)
        if value is None and known:
            return known[0].results[0]
        return value

    def _only_port(self, op: Operation) -> InputPort:
        """The only input port of a node, or the only one whose operand is not a constant."""
        present = [index for index, operand in enumerate(op.operands) if not is_none(operand.owner)]
        computed = [index for index in present if not isinstance(op.operands[index].owner, Constant)]
        for candidates in (present, computed):
            if len(candidates) == 1:
                return InputPort(op, candidates[0])
        name = name_of(op)
        if not present:
            raise ConversionError("it has no input", operation=op.name, node=name, hint=f"say {name}:0 for its output")
        ports = alternatives(f"{index}:{name}" for index in present[:_FEW])
        hint = f"say which: {ports}; {name}:0 is its output"
        raise ConversionError(f"it has {len(present)} inputs", operation=op.name, node=name, hint=hint)

    def _port(self, op: Operation, number: int) -> Parameter | InputPort:
        if isinstance(op, Parameter) and number == 0:
            return op
        if number >= len(op.operands) or is_none(op.operands[number].owner):
            present = [index for index, operand in enumerate(op.operands) if not is_none(operand.owner)]
            listed = f"its input ports are {', '.join(map(str, present))}" if present else "it has none"
            raise ConversionError(f"it has no input port {number}", operation=op.name, node=name_of(op), hint=listed)
        return InputPort(op, number)

    # Outputs

    def output_at(self, place: Place) -> SSAValue:
        """The tensor that a place denotes. Raises ConversionError unless there is exactly one."""
        for name, into, out in place.readings():
            if into is None and out is None:
                if (output := self._output(name)) is not None:
                    return output
            elif name in self._nodes:
                op = self._node(name)
                if into is None:
                    return self._result(op, out or 0)
                port = self._port(op, into)
                return port.value if isinstance(port, InputPort) else port.results[0]
        raise self._absent(place)

    def _output(self, name: str) -> SSAValue | None:
        value = self._outputs.get(name) or self._tensors.get(name)
        if value is not None or name not in self._nodes:
            return value
        op = self._node(name)
        used = [result for result in op.results if result.first_use is not None or names_of(result)]
        if len(op.results) == 1 or len(used) == 1:
            return (used or op.results)[0]
        ports = alternatives(f"{name}:{result.index}" for result in (used or op.results)[:_FEW])
        raise ConversionError(f"it has {len(op.results)} outputs", operation=op.name, node=name, hint=f"say which: {ports}")

    def _result(self, op: Operation, index: int) -> SSAValue:
        if index >= len(op.results):
            listed = f"its output ports are 0 to {len(op.results) - 1}" if len(op.results) > 1 else "its output port is 0"
            raise ConversionError(f"it has no output port {index}", operation=op.name, node=name_of(op), hint=listed)
        return op.results[index]

    def _node(self, name: str) -> Operation:
        node = self._nodes[name]
        if len(node) > 1:
            tensors = [each for op in node for result in op.results for each in names_of(result)[:1]]
            hint = f"name a tensor instead, such as {alternatives(tensors[:_FEW])}" if tensors else None
            raise ConversionError(f"{len(node)} nodes have the name {name!r}", hint=hint)
        return node[0]

    # Errors for names that do not exist

    def _absent(self, place: Place) -> ConversionError:
        name = place.text
        inner = next(
            (op for op in _inner_operations(self.block) if name_of(op) == name or any(name in names_of(r) for r in op.results)), None
        )
        if inner is not None:
            around = inner.parent_op()
            outer = f"{around.name} {name_of(around)!r}" if around is not None else "an operation"
            return ConversionError(f"{name!r} is in a body of {outer}", hint="models can be cut outside of loops and branches only")
        known = {*self._nodes, *self._tensors, *self._outputs}
        ends = sorted(each for each in known if each.endswith((f"/{name}", f"/{name}:0")) or name.endswith(f"/{each}"))
        ports = f"the inputs are {self._inputs()}, the outputs {', '.join(list(self._outputs)[:_FEW])}"
        quoted = [f"'\"{each}\"'" for each in sorted(known) if each.startswith(f"{name},")]
        hint = f"did you mean {alternatives(ends[:_FEW])}?" if ends else did_you_mean(name, known, ports)
        if quoted:
            hint = f"names with commas are quoted: {alternatives(quoted[:_FEW])}"
        return ConversionError(f"there is no node and no tensor {name!r}", hint=hint)

    def _inputs(self) -> str:
        names = [name_of(op) or next(iter(names_of(op.results[0])), "") for op in self.parameters]
        return ", ".join(names[:_FEW]) + (", …" if len(names) > _FEW else "") if names else "none"


def _inner_operations(block: Block) -> Iterator[Operation]:
    """The operations in the bodies of a block's operations."""
    for op in block.ops:
        if op.regions:
            for body in all_blocks(op):
                yield from body.ops
