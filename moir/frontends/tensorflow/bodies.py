"""Functions that are attributes of a node -> regions.

A region has a Parameter for each argument of its function and a Result for each output. Handles of variables and hash
tables are neither operands nor results of such an operation: each region has its own copy of the operation that creates
the handle, and a loop variable that is a handle is replaced by the handle itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects.frameworks.tensorflow import is_branching
from moir.dialects.properties import strings_attribute
from moir.dialects.shapes import tensor
from moir.frontends.operations import Operations, named
from moir.frontends.tensorflow.frames import Frame, Plan, plan
from moir.frontends.tensorflow.functions import LOOP_KINDS
from moir.frontends.tensorflow.references import Tensor
from moir.frontends.tensorflow.state.nodes import Resource
from moir.frontends.tensorflow.state.values import State, handle_owner
from moir.frontends.tensorflow.tensors import element_type

HANDLE_KINDS = frozenset(
    ("VarHandleOp", "VariableV2", "Variable", "HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2", "AnonymousHashTable")
)
_ORDER = ("then_branch", "else_branch", "branches", "cond", "body")
"""Names of the attributes that are functions, in the order of the regions."""


def graph_functions(frame: Frame, node: Any) -> list[tuple[str, Any]]:
    """The attributes of a node that are functions, with their NameAttrLists; each element of a list separately."""
    functions: list[tuple[str, Any]] = []
    for name, value in frame.attributes(node):
        if name.startswith("_"):
            continue
        if value.WhichOneof("value") == "func" and value.func.name:
            functions.append((name, value.func))
        elif value.WhichOneof("value") == "list":
            functions += [(name, function) for function in value.list.func]
    return sorted(functions, key=lambda entry: _ORDER.index(entry[0]) if entry[0] in _ORDER else len(_ORDER))


def handle_of(value: SSAValue) -> SSAValue | None:
    """The handle of a variable or a hash table that a value is, directly or through copies; None if the value is not a
    handle.
    """
    owner = handle_owner(value)
    return owner.results[0] if owner is not None and owner.KIND in HANDLE_KINDS else None


class NodeImporter(Protocol):
    """Builds the nodes of functions. `GraphImporter` implements and documents these methods."""

    def values(self, frame: Frame, node: Any, operands: Sequence[Tensor]) -> list[SSAValue]: ...

    def operation(
        self, frame: Frame, node: Any, operands: Sequence[SSAValue], numbers: Iterable[int], regions: Sequence[Any] = (), **extra: Attribute
    ) -> Sequence[SSAValue]: ...

    def enter(self, frame: Frame, node: Any, name: str, attributes: Any, operations: Operations) -> Frame: ...

    def build(self, frame: Frame, needed: Plan) -> None: ...

    def leave(self) -> None: ...

    def finished_block(self, frame: Frame, roots: Sequence[Tensor], names: Sequence[str]) -> Block: ...


class BodyBuilder:
    """Builds operations that have functions.

    Args:
        importer: builds the nodes of the functions.
        state: the values of variables that are written.
    """

    def __init__(self, importer: NodeImporter, state: State) -> None:
        self.importer = importer
        self.state = state

    def build(self, frame: Frame, node: Any, operands: Sequence[Tensor], numbers: set[int], functions: list[tuple[str, Any]]) -> None:
        """Build the operation of a node, with a region for each of its functions.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            operands: the tensors it uses.
            numbers: the indices of the outputs that are needed; empty if a node is built only because it writes a
                variable.
            functions: its attributes that are functions, with their NameAttrLists.

        Raises ModelFileError if functions of a node other than a conditional or a loop use a variable that is written.
        """
        values = [self.state.argument(frame, value) for value in self.importer.values(frame, node, operands)]
        accesses = self.state.accesses(frame, node)
        if accesses and not is_branching(node.op) and node.op not in LOOP_KINDS:
            raise frame.error(f"its functions use the variable {min(accesses)[1]!r}, which the model writes", node)
        states = {resource: self.state.value(frame, resource) for resource in sorted(accesses)}
        first = 1 if is_branching(node.op) else 0
        handles: dict[int, SSAValue] = {}
        if is_branching(node.op) or node.op in LOOP_KINDS:
            handles = {
                index - first: handle for index, value in enumerate(values) if (handle := handle_of(value)) is not None and index >= first
            }
        regions = [self.region(frame, node, name, function, handles, states) for name, function in functions]
        kept = [*(value for index, value in enumerate(values) if index - first not in handles), *states.values()]
        names = strings_attribute([name for name, _ in functions])
        # Outputs of the node are numbered with handles, results of the operation without them; then come the states.
        is_loop = node.op in LOOP_KINDS
        count = sum(op.name == "opset1.Result" for op in regions[-1].block.ops) - len(states)
        indices = [index for index in range(max(len(values), max(numbers, default=0) + 1)) if not is_loop or index not in handles]
        wanted = {indices.index(number) for number in numbers if not is_loop or number not in handles}
        if any(accesses.values()):
            wanted |= set(range(count, count + len(states)))
        outputs: dict[int, SSAValue] = dict(handles) if is_loop else {}
        if wanted:
            results = self.importer.operation(frame, node, kept, wanted, regions, graph_attributes=names)
            outputs |= dict(zip(indices, results[:count] if states else results, strict=False))
            self.state.values |= dict(zip(states, results[count:], strict=False))
        for number, value in outputs.items():
            frame.values[node.name, number] = value

    def region(
        self,
        frame: Frame,
        node: Any,
        attribute: str,
        reference: Any,
        handles: dict[int, SSAValue],
        states: dict[Resource, SSAValue],
    ) -> Region:
        """The region for a function.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            attribute: name of the attribute that is the function.
            reference: its NameAttrList.
            handles: the handles among the arguments, by the index of the argument.
            states: the values of the variables that the functions of the node access, which are further arguments.

        Raises ModelFileError if the body of a loop yields another handle than it was given.
        """
        importer = self.importer
        inner = importer.enter(frame, node, reference.name, reference.attr, Operations())
        function = inner.function
        assert function is not None
        copies: dict[int, Operation] = {}
        for index, (name, argument) in enumerate(function.arguments.items()):
            if index in handles:
                copy = copies[index] = cast("Operation", handles[index].owner).clone()
                inner.operations.append(copy)
                inner.values[name, 0] = copy.results[0]
                self.state.copied(handles[index], copy.results[0])
                continue
            type_value = inner.bindings.get(argument.type_attr) if argument.type_attr else None
            element = element_type(argument.type if type_value is None else type_value.type)
            inner.values[name, 0] = _parameter(inner, inner.prefix + name, tensor(None, element))
        outer = dict(self.state.values)
        for resource, value in states.items():
            self.state.values[resource] = _parameter(inner, f"{inner.prefix}{self.state.name(resource)}/state", value.type)
        results = function.results
        roots = [inner.resolve(text) for _, text in results]
        importer.build(inner, plan(inner, roots))
        kept = list(range(len(roots)))
        if node.op in LOOP_KINDS and attribute == "body":
            for index, copy in copies.items():
                if index < len(roots) and handle_of(inner.values[roots[index]]) is not copy.results[0]:
                    raise frame.error(f"its body exchanges the variable or table that is operand {index}", node)
            kept = [index for index in kept if index not in copies]
        importer.leave()
        names = [inner.prefix + results[index][0] for index in kept]
        kept_roots = [roots[index] for index in kept]
        if states and attribute != "cond":
            for resource in states:
                key = f"{self.state.name(resource)}/next", 0
                inner.values[key] = self.state.values[resource]
                kept_roots.append(key)
                names.append(inner.prefix + key[0])
        self.state.values = outer
        block = importer.finished_block(inner, kept_roots, names)
        for copy in copies.values():
            if not any(result.uses for result in copy.results):
                copy.detach()
                copy.erase()
        return Region(block)


def _parameter(frame: Frame, name: str, type_: Attribute) -> SSAValue:
    """The value of a new Parameter in a function, with a type and a name."""
    return frame.operations.parameter(type_, named(name, name))
