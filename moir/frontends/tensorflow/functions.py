"""The nodes of a graph, and the functions of its library.

Source: function.proto and op_def.proto of TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from moir.dialects.frameworks.tensorflow import is_branching
from moir.errors import ModelFileError
from moir.frontends.tensorflow.attributes import Bindings
from moir.support.records import Record

CALL_KINDS = frozenset(("PartitionedCall", "StatefulPartitionedCall", "RemoteCall"))
"""Kinds that call the function in their attribute `f`; they are inlined."""


def first_argument(kind: str) -> int:
    """The index of the operand that is the first argument of the function, for a kind of calling node.

    In a RemoteCall it follows the name of the device; in kinds with branches, the operand that selects the branch.
    """
    return 1 if kind == "RemoteCall" or is_branching(kind) else 0


LOOP_KINDS = frozenset(("While", "StatelessWhile", "XlaWhile"))

MERGE_KINDS = frozenset(("Merge", "RefMerge"))
"""Kinds that join the branches of a condition of TensorFlow 1, or the beginning of a loop and its back edge."""
_NEXT_ITERATION_KINDS = frozenset(("NextIteration", "RefNextIteration"))


class Nodes(dict[str, Any]):
    """The NodeDefs of a graph or a function by name, in the order of the file.

    Args:
        nodes: the NodeDefs.
        path: the file, for messages.
        where: designation of the graph or function, for messages.

    Raises ModelFileError for a name that is empty or occurs twice.
    """

    def __init__(self, nodes: Any, path: Path, where: str) -> None:
        super().__init__()
        for node in nodes:
            if not node.name or not node.op:
                raise ModelFileError(
                    f"a node of {where} has no {'kind' if node.name else 'name'}", location=str(path), node=node.name or None
                )
            if node.name in self:
                raise ModelFileError(f"two nodes of {where} have this name", operation=f"tf.{node.op}", node=node.name, location=str(path))
            self[node.name] = node

    @cached_property
    def positions(self) -> dict[str, int]:
        """The position of each node in the order, by its name."""
        return {name: position for position, name in enumerate(self)}

    @cached_property
    def back_edges(self) -> dict[str, tuple[str, int]]:
        """For each NextIteration, by its name, the name of the Merge that uses its result, and the index of the Merge's
        operand.
        """
        edges: dict[str, tuple[str, int]] = {}
        for merge in self.values():
            if merge.op in MERGE_KINDS:
                for index, text in enumerate(merge.input):
                    source = text.partition(":")[0]
                    if source in self and is_back_edge(merge, self[source]):
                        edges[source] = merge.name, index
        return edges


def is_back_edge(user: Any, source: Any) -> bool:
    """Whether the edge from node `source` to its user is the back edge of a TensorFlow 1 loop."""
    return user.op in MERGE_KINDS and source.op in _NEXT_ITERATION_KINDS


class Function(Record):
    """A function: its FunctionDef, nodes, arguments and outputs."""

    definition: Any
    nodes: Nodes
    arguments: Mapping[str, Any]
    """The ArgDefs by name, in order."""
    results: list[tuple[str, str]]
    """The names of the outputs, each with the reference to its tensor."""
    defaults: dict[str, Any]
    """Default values of the attributes that a call may omit."""

    @property
    def name(self) -> str:
        """The function's name in the library."""
        return self.definition.signature.name


class Functions:
    """The functions of one file, by name.

    Args:
        library: the FunctionDefLibrary.
        path: the file, for messages.

    Raises ModelFileError if two functions have one name.
    """

    def __init__(self, library: Any, path: Path) -> None:
        self.path = path
        self._read: dict[str, Function] = {}
        self._definitions: dict[str, Any] = {}
        self.node_count = 0
        """The number of nodes of all functions."""
        for definition in library.function:
            name = definition.signature.name
            if name in self._definitions:
                raise ModelFileError(f"function {name!r} is there twice", location=str(path))
            self._definitions[name] = definition
            self.node_count += len(definition.node_def)

    def __contains__(self, name: str) -> bool:
        return name in self._definitions

    def find(self, name: str, node: Any) -> Function:
        """The function that a node calls. Raises ModelFileError if it is missing or its definition is invalid."""
        if name not in self._read:
            if name not in self._definitions:
                reason = f"it calls the function {name!r}, which the model does not have"
                hint = "export the model with its function library"
                raise ModelFileError(reason, operation=f"tf.{node.op}", node=node.name, location=str(self.path), hint=hint)
            self._read[name] = self._function(self._definitions[name])
        return self._read[name]

    def _function(self, definition: Any) -> Function:
        signature = definition.signature
        where = f"function {signature.name!r}"
        nodes = Nodes(definition.node_def, self.path, where)
        arguments: dict[str, Any] = {}
        for argument in signature.input_arg:
            if argument.name in arguments or argument.name in nodes:
                raise ModelFileError(f"two tensors of {where} have the name {argument.name!r}", location=str(self.path))
            if argument.number_attr or argument.type_list_attr:
                raise ModelFileError(f"argument {argument.name!r} of {where} is a list of tensors", location=str(self.path))
            arguments[argument.name] = argument
        results: list[tuple[str, str]] = []
        for output in signature.output_arg:
            if output.name not in definition.ret:
                raise ModelFileError(f"{where} does not compute its output {output.name!r}", location=str(self.path))
            results.append((output.name, definition.ret[output.name]))
        defaults = {each.name: each.default_value for each in signature.attr if each.HasField("default_value")}
        return Function(definition, nodes, arguments, results, defaults)


def bound(value: Any, bindings: Bindings) -> Any:
    """An AttrValue in a function: a placeholder is replaced by the value from the call, or None if that has none."""
    if value.WhichOneof("value") != "placeholder":
        return value
    return bindings.get(value.placeholder)


def call_bindings(function: Function, given: Any, bindings: Bindings) -> Bindings:
    """The attributes of a call, by name: those that it gives, with placeholders replaced, and the function's defaults.

    Args:
        function: the function that is called.
        given: AttrValues of the call, by name.
        bindings: attributes of the function that contains the call.
    """
    attributes = dict(function.defaults)
    for name in given:
        value = bound(given[name], bindings)
        if value is not None:
            attributes[name] = value
    return attributes
