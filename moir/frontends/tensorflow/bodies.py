"""Functions that are attributes of a node -> regions.

A region has a Parameter for each argument of its function and a Result for each output. Handles of variables and hash
tables are neither operands nor results of such an operation: each region has its own copy of the operation that creates
the handle, and a loop variable that is a handle is replaced by the handle itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.framework import FrameworkOp
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import string_attribute, strings_attribute
from moir.dialects.shapes import tensor
from moir.frontends.operations import Operations
from moir.frontends.tensorflow.frames import Frame, Plan, Tensor, plan
from moir.frontends.tensorflow.tensors import element_type

HANDLE_KINDS = frozenset(
    ("VarHandleOp", "VariableV2", "Variable", "HashTable", "HashTableV2", "MutableHashTable", "MutableHashTableV2", "AnonymousHashTable")
)
_LOOP_KINDS = frozenset(("While", "StatelessWhile"))
_BRANCHING_KINDS = frozenset(("If", "StatelessIf", "Case", "StatelessCase"))
_ORDER = ("then_branch", "else_branch", "branches", "cond", "body")
"""Names of the attributes that are functions, in the order of the regions."""


def graph_functions(frame: Frame, node: Any) -> list[tuple[str, Any]]:
    """The attributes of a node that are functions, with their NameAttrLists; each element of a list separately."""
    found: list[tuple[str, Any]] = []
    for name, value in frame.attributes(node):
        if name.startswith("_"):
            continue
        if value.WhichOneof("value") == "func" and value.func.name:
            found.append((name, value.func))
        elif value.WhichOneof("value") == "list":
            found += [(name, function) for function in value.list.func]
    return sorted(found, key=lambda entry: _ORDER.index(entry[0]) if entry[0] in _ORDER else len(_ORDER))


def handle_of(value: SSAValue) -> SSAValue | None:
    """The handle of a variable or a hash table that a value is a copy of, None if it is no handle."""
    while isinstance(value.owner, FrameworkOp) and value.owner.KIND == "Identity":
        value = value.owner.operands[0]
    return value if isinstance(value.owner, FrameworkOp) and value.owner.KIND in HANDLE_KINDS else None


class NodeImporter(Protocol):
    """Builds the nodes of functions. `GraphImporter` implements and documents these methods."""

    def values(self, frame: Frame, node: Any, operands: Sequence[Tensor]) -> list[SSAValue]: ...

    def operation(
        self, frame: Frame, node: Any, operands: Sequence[SSAValue], numbers: Iterable[int], regions: Sequence[Any] = (), **extra: Attribute
    ) -> Sequence[SSAValue]: ...

    def enter(self, frame: Frame, node: Any, name: str, given: Any, operations: Operations) -> Frame: ...

    def build(self, frame: Frame, needed: Plan) -> None: ...

    def leave(self) -> None: ...

    def finished_block(self, frame: Frame, roots: Sequence[Tensor], names: Sequence[str]) -> Block: ...


class BodyBuilder:
    """Builds operations that have functions.

    Args:
        importer: builds the nodes of the functions.
    """

    def __init__(self, importer: NodeImporter) -> None:
        self.importer = importer

    def build(self, frame: Frame, node: Any, operands: Sequence[Tensor], numbers: set[int], functions: list[tuple[str, Any]]) -> None:
        """Build the operation of a node, with a region for each of its functions.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            operands: the tensors it uses.
            numbers: the outputs that are needed.
            functions: its attributes that are functions, with their NameAttrLists.
        """
        values = self.importer.values(frame, node, operands)
        first = 1 if node.op in _BRANCHING_KINDS else 0
        handles: dict[int, SSAValue] = {}
        if node.op in _BRANCHING_KINDS or node.op in _LOOP_KINDS:
            handles = {
                index - first: found for index, value in enumerate(values) if (found := handle_of(value)) is not None and index >= first
            }
        regions = [self.region(frame, node, name, function, handles) for name, function in functions]
        kept = [value for index, value in enumerate(values) if index - first not in handles]
        names = strings_attribute([name for name, _ in functions])
        if node.op not in _LOOP_KINDS or not handles:
            self.importer.operation(frame, node, kept, numbers, regions, graph_attributes=names)
            return
        # Outputs of the node are numbered with handles, results of the operation without them.
        places = [index for index in range(max(len(values), max(numbers) + 1)) if index not in handles]
        wanted = {places.index(number) for number in numbers if number not in handles}
        outputs: dict[int, SSAValue] = dict(handles)
        if wanted:
            results = self.importer.operation(frame, node, kept, wanted, regions, graph_attributes=names)
            outputs |= dict(zip(places, results, strict=False))
        for number, value in outputs.items():
            frame.values[node.name, number] = value

    def region(self, frame: Frame, node: Any, attribute: str, reference: Any, handles: dict[int, SSAValue]) -> Region:
        """The region for a function.

        Args:
            frame: the graph of the node.
            node: the NodeDef.
            attribute: name of the attribute that is the function.
            reference: its NameAttrList.
            handles: the handles among the arguments, by number.

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
                continue
            type_value = inner.bindings.get(argument.type_attr) if argument.type_attr else None
            element = element_type(argument.type if type_value is None else type_value.type)
            full_name = inner.prefix + name
            parameter = opset.operation("opset1.Parameter").create(
                result_types=[tensor(None, element)],
                attributes={"name": string_attribute(full_name), "tensor_names": several_tensor_names([[full_name]])},
            )
            inner.operations.append(parameter)
            inner.values[name, 0] = parameter.results[0]
        results = function.results
        roots = [inner.resolve(text) for _, text in results]
        importer.build(inner, plan(inner, roots))
        kept = list(range(len(roots)))
        if node.op in _LOOP_KINDS and attribute == "body":
            for index, copy in copies.items():
                if index < len(roots) and handle_of(inner.values[roots[index]]) is not copy.results[0]:
                    raise frame.error(f"its body exchanges the variable or table that is operand {index}", node)
            kept = [index for index in kept if index not in copies]
        importer.leave()
        names = [inner.prefix + results[index][0] for index in kept]
        block = importer.finished_block(inner, [roots[index] for index in kept], names)
        for copy in copies.values():
            if not any(result.uses for result in copy.results):
                copy.detach()
                copy.erase()
        return Region(block)
