"""Symbolic execution of a model's restore and initialization operations, to find the values of variables and tables.

A TensorFlow model does not declare which tensor of its checkpoint a variable holds. It has operations, in the main
graph or in functions, that read the checkpoint and assign the tensors to variables, and others that fill hash tables.
They are executed on symbols: a tensor of the checkpoint is represented by its name, an asset by its path. Results that
require computation are unknown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.errors import ConversionError, ModelFileError
from moir.frontends.tensorflow.functions import CALL_KINDS, first_argument
from moir.frontends.tensorflow.references import attribute, reference
from moir.frontends.tensorflow.state.assets import OpenedAsset
from moir.frontends.tensorflow.state.lookup_tables import TextTable, read_text_table
from moir.frontends.tensorflow.state.nodes import (
    TABLE_FILLING_KINDS,
    TABLE_KINDS,
    TEXT_TABLE_KINDS,
    VARIABLE_KINDS,
    Resource,
    resource_of,
)
from moir.frontends.tensorflow.tensors import element_type
from moir.support.records import Record

MAXIMUM_OPERATIONS = 1 << 18
"""Largest number of operations executed; those of a function count at each call."""
MAXIMUM_ENTRIES = 1 << 26
"""Largest number of entries of a hash table, because a small file can describe a table with any number of equal ones.
"""
MAXIMUM_RESTORED = 1 << 20
"""Largest number of tensors that one operation restores."""
_MAXIMUM_DEPTH = 64

_PASSING_KINDS = frozenset(("Identity", "IdentityN", "RefIdentity", "StopGradient", "Snapshot", "PlaceholderWithDefault", "EnsureShape"))
ASSIGNMENT_KINDS = frozenset(("AssignVariableOp", "Assign"))


class Handle(Record):
    """The handle of a variable or a table, with the node that creates it. Handles of one resource are equal."""

    resource: Resource
    node: Any

    def compared(self) -> tuple[Any, ...]:
        return (self.resource,)


class Restored(Record):
    """A tensor of the checkpoint: its name, and a slice in TensorFlow's notation."""

    key: str
    part: str = ""


class Asset(Record):
    """A file that belongs to the model, by its name there."""

    name: str


Value = DataAttr | Handle | Restored | Asset | None
"""The symbolic value of a tensor; None if it is unknown."""

Entries = tuple[DataAttr | Restored, DataAttr | Restored]
"""The keys and the values of a hash table."""


class Execution:
    """Executes operations of one graph symbolically.

    Args:
        graph: the GraphDef.
        read_tensor: reads a TensorProto, given the name of its node.
        assets: the paths of assets in the model, by the names of the nodes that hold them.
        open_asset: opens an asset by its path; None if there are no assets.
    """

    def __init__(
        self,
        graph: Any,
        read_tensor: Callable[[Any, str], DataAttr],
        assets: Mapping[str, str] | None = None,
        open_asset: Callable[[str], OpenedAsset] | None = None,
    ) -> None:
        self.nodes = {node.name: node for node in graph.node}
        self.functions = {function.signature.name: function for function in graph.library.function}
        self.read_tensor = read_tensor
        self.assets = assets or {}
        self.open_asset = open_asset
        self.variables: dict[Resource, Value] = {}
        self.tables: dict[Resource, Entries | None] = {}
        self.operations = 0

    def run(self, roots: Iterable[str]) -> None:
        """Execute nodes of the main graph, each after those it depends on."""
        self._frame(self.nodes, [reference(root)[0] for root in roots], {}, "", 0)

    def restoring(self) -> list[str]:
        """Names of the nodes of the main graph that assign tensors of a checkpoint."""
        return [name for name, node in self.nodes.items() if self._restores(node)]

    def _restores(self, node: Any) -> bool:
        if node.op in ASSIGNMENT_KINDS and len(node.input) > 1:
            source = self.nodes.get(reference(node.input[1])[0])
            for _ in range(_MAXIMUM_DEPTH):
                if source is None or source.op not in _PASSING_KINDS or not source.input:
                    break
                source = self.nodes.get(reference(source.input[0])[0])
            return source is not None and source.op == "RestoreV2"
        if node.op in CALL_KINDS and (function := self.functions.get(attribute(node, "f").func.name)) is not None:
            return any(inner.op == "RestoreV2" for inner in function.node_def)
        return False

    def table_initializers(self) -> list[str]:
        """Names of the nodes of the main graph that fill hash tables."""
        return [name for name, node in self.nodes.items() if node.op in TABLE_FILLING_KINDS]

    def _frame(self, nodes: Mapping[str, Any], roots: Iterable[str], arguments: dict[str, Value], prefix: str, depth: int) -> _Frame:
        frame = _Frame(nodes, dict[tuple[str, int], Value](), prefix, depth)
        frame.values.update({(name, 0): value for name, value in arguments.items()})
        for name in _order(nodes, roots):
            self.operations += 1
            if self.operations > MAXIMUM_OPERATIONS:
                raise ModelFileError("functions that restore or initialize the model call each other too often")
            for index, value in enumerate(self._results(nodes[name], frame)):
                frame.values[name, index] = value
        return frame

    def _results(self, node: Any, frame: _Frame) -> list[Value]:
        """Execute one operation; returns the values of its results, None for each that is unknown."""
        operands = [frame.values.get(reference(name)) for name in node.input if not name.startswith("^")]
        kind: str = node.op
        if not frame.prefix and node.name in self.assets:
            return [Asset(self.assets[node.name])]
        if kind in _PASSING_KINDS:
            return operands
        if kind == "Const":
            return [self._constant(node)]
        if kind in VARIABLE_KINDS or kind in TABLE_KINDS:
            return [Handle(resource_of(node, frame.prefix), node)]
        if kind == "RestoreV2":
            return _restored(operands)
        if kind in CALL_KINDS or kind in self.functions:
            return self._call(node, operands, frame)
        if not operands or not isinstance(handle := operands[0], Handle):
            return []
        if kind == "ReadVariableOp":
            return [self.variables.get(handle.resource)]
        if kind in ASSIGNMENT_KINDS:
            self.variables[handle.resource] = operands[1] if len(operands) > 1 else None
            return [handle]
        if kind in TABLE_FILLING_KINDS:
            self._fill(node, handle, operands)
        return []

    def _constant(self, node: Any) -> Value:
        """The value of a Const; None for a type that neither variables nor tables can have."""
        try:
            return self.read_tensor(attribute(node, "value").tensor, node.name)
        except ConversionError:
            return None

    def _call(self, node: Any, operands: list[Value], frame: _Frame) -> list[Value]:
        name = attribute(node, "f").func.name if node.op in CALL_KINDS else node.op
        function = self.functions.get(name)
        if function is None or frame.depth >= _MAXIMUM_DEPTH:
            return []
        given = operands[first_argument(node.op) :]
        arguments = {argument.name: value for argument, value in zip(function.signature.input_arg, given, strict=False)}
        nodes = {inner.name: inner for inner in function.node_def}
        inner = self._frame(nodes, nodes, arguments, f"{frame.prefix}{node.name}/", frame.depth + 1)
        return [inner.values.get(reference(function.ret[result.name])) for result in function.signature.output_arg]

    def _fill(self, node: Any, handle: Handle, operands: list[Value]) -> None:
        """Execute an operation that fills a hash table, given by its handle: an Insert adds entries, other kinds
        replace all.

        If the entries are unknown, the whole content of the table is unknown afterwards.
        """
        entries: Entries | None = None
        if node.op in TEXT_TABLE_KINDS:
            entries = self._text_table(node, handle, operands)
        elif len(operands) > 2:
            keys, values = operands[1:3]
            if isinstance(keys, DataAttr | Restored) and isinstance(values, DataAttr | Restored):
                entries = keys, values
        before = self.tables.get(handle.resource)
        if entries is not None and before is not None and "Insert" in node.op:
            keys, values = (_joined(old, new) for old, new in zip(before, entries, strict=True))
            entries = None if keys is None or values is None else (keys, values)
        self.tables[handle.resource] = _last_of_each_key(entries) if entries is not None and "LookupTable" in node.op else entries

    def _text_table(self, node: Any, handle: Handle, operands: list[Value]) -> Entries | None:
        asset = operands[1] if len(operands) > 1 else None
        if isinstance(asset, DataAttr) and asset.element == element_types.string and asset.array.size == 1:
            asset = Asset(str(asset.array.item()))
        key_type, value_type = (element_type(attribute(handle.node, name).type) for name in ("key_dtype", "value_dtype"))
        if not isinstance(asset, Asset) or self.open_asset is None or element_types.dynamic in (key_type, value_type):
            return None
        layout = TextTable(
            attribute(node, "key_index").i,
            attribute(node, "value_index").i,
            attribute(node, "vocab_size").i if "vocab_size" in node.attr else -1,
            attribute(node, "delimiter").s.decode(errors="replace") if "delimiter" in node.attr else "\t",
            attribute(node, "offset").i,
        )
        return read_text_table(self.open_asset(asset.name), handle.node.name, layout, key_type, value_type)


class _Frame(Record):
    """One execution of a graph or of a function: its nodes, and the values of their results so far.

    `prefix` is the path of calls before the names of nodes, `depth` the number of calls around it.
    """

    nodes: Mapping[str, Any]
    values: dict[tuple[str, int], Value]
    prefix: str
    depth: int


def _order(nodes: Mapping[str, Any], roots: Iterable[str]) -> list[str]:
    """The roots and the nodes they depend on by data or control, operands first; cycles are cut at any edge."""
    order: list[str] = []
    seen: set[str] = set()
    stack: list[tuple[str, bool]] = [(root, False) for root in reversed(list(roots))]
    while stack:
        name, is_done = stack.pop()
        if is_done:
            order.append(name)
        elif name in nodes and name not in seen:
            seen.add(name)
            stack.append((name, True))
            stack += [(reference(operand)[0], False) for operand in reversed(nodes[name].input)]
    return order


def _joined(before: DataAttr | Restored, more: DataAttr | Restored) -> DataAttr | None:
    """The keys (or the values) of a table, followed by `more`.

    Returns None if some of them are in the checkpoint, or there are too many.
    """
    if isinstance(before, Restored) or isinstance(more, Restored) or before.array.size + more.array.size > MAXIMUM_ENTRIES:
        return None
    return DataAttr.of(np.concatenate([before.array.reshape(-1), more.array.reshape(-1)]), more.element)


def _last_of_each_key(entries: Entries) -> Entries:
    """Entries without those that a later entry with the same key replaces."""
    keys, values = entries
    if isinstance(keys, Restored) or isinstance(values, Restored) or keys.array.size != values.array.size:
        return entries
    listed, of_keys = keys.array.reshape(-1), values.array.reshape(-1)
    last = {key: index for index, key in enumerate(listed.tolist())}
    if len(last) == listed.size:
        return entries
    kept = sorted(last.values())
    return DataAttr.of(listed[kept], keys.element), DataAttr.of(of_keys[kept], values.element)


def _restored(operands: list[Value]) -> list[Value]:
    """The tensors of the checkpoint that RestoreV2 returns, by its operands; empty if names or slices are not known."""
    if len(operands) < 3 or not isinstance(names := operands[1], DataAttr) or not isinstance(parts := operands[2], DataAttr):
        return []
    if max(names.array.size, parts.array.size) > MAXIMUM_RESTORED:
        return []
    return [Restored(str(key), str(part)) for key, part in zip(names.array.ravel(), parts.array.ravel(), strict=False)]
