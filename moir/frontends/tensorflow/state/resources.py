"""The values of a model's variables and hash tables.

Which tensor of the checkpoint is the value of a variable is in the graph of objects of a SavedModel of TensorFlow 2
(`captures.py`). In other models, it is the one that the model's restore operations assign to the variable. For a
variable that they do not assign, it is the tensor with the key under which TensorFlow's savers would write it: its name
(TF1), the key of its name in the checkpoint's object graph (TF2), or the key of a slice of a partitioned tensor.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.tensorflow.checkpoint.bundle import ATTRIBUTE_SUFFIX, Bundle, open_checkpoint
from moir.frontends.tensorflow.execution import MAXIMUM_ENTRIES, Execution, Restored
from moir.frontends.tensorflow.references import attribute
from moir.frontends.tensorflow.state.assets import Assets
from moir.frontends.tensorflow.state.captures import checkpoint_objects
from moir.frontends.tensorflow.state.nodes import MUTABLE_TABLE_KINDS, TABLE_KINDS, VARIABLE_KINDS, resource_of
from moir.frontends.tensorflow.tensors import DATA_TYPES, TensorReader, element_type
from moir.support.records import Record

_PART = r"(.+)/part_(\d{1,6})"
_UNREAD_KINDS = frozenset(
    ("VarIsInitializedOp", "IsVariableInitialized", "VariableShape", "DisableCopyOnRead", "AssignVariableOp", "Assign")
)


class Variables(Mapping[str, DataAttr]):
    """The values of variables by the names of their nodes, read on access.

    Variables without a value are not in the mapping.

    Args:
        graph: the GraphDef.
        execution: the execution of the restore and initialization operations, completed.
        bundle: the checkpoint, if there is one.
        captured: the keys of variables that functions captured, see `captured_keys`. If there are any, no variable has
            a value because of its name.
    """

    def __init__(self, graph: Any, execution: Execution, bundle: Bundle | None, captured: Mapping[str, str] | None = None) -> None:
        self.nodes = {node.name: node for node in graph.node if node.op in VARIABLE_KINDS}
        self.execution = execution
        self.bundle = bundle
        self.captured = captured
        self.known: dict[str, DataAttr | None] = {}

    def __getitem__(self, name: str) -> DataAttr:
        if name not in self.known:
            self.known[name] = self._value(self.nodes[name])
        value = self.known[name]
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def _value(self, node: Any) -> DataAttr | None:
        if self.captured is not None and self.bundle is not None and (key := self.captured.get(node.name, "")) in self.bundle:
            return self._checked(node, self.bundle.read(key))
        resource = resource_of(node)
        assigned = self.execution.variables.get(resource)
        if isinstance(assigned, DataAttr):
            return assigned
        if isinstance(assigned, Restored) and self.bundle is not None and assigned.key in self.bundle:
            return self._checked(node, self.bundle.read(assigned.key, self._extents(node, assigned)))
        # Values that initialization operations compute are unknown; the checkpoint has those saved after training.
        value = self._by_name(node, resource[1]) if self.captured is None else None
        if value is None and isinstance(assigned, Restored) and self.bundle is not None:
            raise self.bundle.error(f"the checkpoint has no tensor {assigned.key!r} for variable {node.name!r}")
        return value

    def _by_name(self, node: Any, name: str) -> DataAttr | None:
        """The value of a variable that no restore operation assigns, from the tensor of its name; None if the
        checkpoint has none.
        """
        bundle = self.bundle
        if bundle is None:
            return None
        for candidate in dict.fromkeys((name, node.name)):
            for key in (candidate, candidate + ATTRIBUTE_SUFFIX, self._object_keys.get(candidate, "")):
                if key in bundle:
                    return self._checked(node, bundle.read(key))
            if (match := re.fullmatch(_PART, candidate)) is not None and match[1] in bundle:
                slices = sorted(bundle.entry(match[1]).slices)
                if int(match[2]) < len(slices):
                    return self._checked(node, bundle.read(match[1], slices[int(match[2])]))
        return None

    @cached_property
    def _object_keys(self) -> dict[str, str]:
        """The key of each variable in the checkpoint, by its name in the object graph.

        Names that several objects have are left out.
        """
        if self.bundle is None:
            return {}
        keys: dict[str, set[str]] = {}
        for node in checkpoint_objects(self.bundle).nodes:
            for part in node.attributes:
                keys.setdefault(part.full_name, set()).add(part.checkpoint_key)
        return {name: variable.pop() for name, variable in keys.items() if name and len(variable) == 1}

    def _extents(self, node: Any, restored: Restored) -> tuple[tuple[int, int], ...] | None:
        """The slice that a restore operation reads: `10 4 0,5:-` is rows 0 to 4 of a matrix of 10 rows, 4 columns.

        Returns None for a whole tensor. Raises ModelFileError for a text that is no slice.
        """
        if not restored.part:
            return None
        extents: list[tuple[int, int]] = []
        for dimension in restored.part.rpartition(" ")[2].split(":"):
            match = re.fullmatch(r"(\d{1,18}),(\d{1,18})|-", dimension)
            if match is None:
                raise ModelFileError(
                    f"{restored.part!r} is not a slice of tensor {restored.key!r}", operation=f"tf.{node.op}", node=node.name
                )
            extents.append((0, -1) if match[1] is None else (int(match[1]), int(match[2])))
        return tuple(extents)

    def _checked(self, node: Any, value: DataAttr) -> DataAttr:
        """The value, verified against the type and shape of a variable. Raises ModelFileError if it does not fit."""
        row = DATA_TYPES.get(attribute(node, "dtype").type)
        declared = attribute(node, "shape").shape
        shape = tuple(dimension.size for dimension in declared.dim)
        fits = "shape" not in node.attr or declared.unknown_rank
        fits = fits or (len(shape) == len(value.shape) and all(a in (-1, b) for a, b in zip(shape, value.shape, strict=True)))
        # A complex value has a last dimension of 2, for real and imaginary part, that the declaration lacks.
        if row is None or (row.element != value.element and not row.is_complex) or not (fits or row.is_complex):
            expected = f"{'unknown' if row is None else row.name} {list(shape)}"
            reason = f"the checkpoint has a tensor of shape {list(value.shape)} and type {value.element} for it, not {expected}"
            raise ModelFileError(reason, operation=f"tf.{node.op}", node=node.name, hint="the checkpoint is of another model")
        return value


def table_contents(graph: Any, execution: Execution, bundle: Bundle | None) -> dict[str, dict[str, Attribute]]:
    """The properties `keys` and `values` of each hash table, of equal length, by the name of its node.

    Args:
        graph: the GraphDef.
        execution: the execution of the restore and initialization operations, completed.
        bundle: the checkpoint, if there is one.

    Tables whose content is not constant are left out.
    """
    contents: dict[str, dict[str, Attribute]] = {}
    for node in graph.node:
        if node.op not in TABLE_KINDS:
            continue
        if node.op in MUTABLE_TABLE_KINDS and resource_of(node) not in execution.tables:
            contents[node.name] = _empty_table(node)
            continue
        if (entries := execution.tables.get(resource_of(node))) is None:
            continue
        keys, values = (_entries(entry, bundle) for entry in entries)
        if keys is not None and values is not None and keys.array.size == values.array.size <= MAXIMUM_ENTRIES:
            contents[node.name] = {"keys": keys, "values": values}
    return contents


def _empty_table(node: Any) -> dict[str, Attribute]:
    """The properties of a table without entries."""
    elements = {name: element_type(attribute(node, name).type) for name in ("key_dtype", "value_dtype")}
    if element_types.dynamic in elements.values():
        return {}
    keys, values = (DataAttr.of(np.empty(0, element_types.to_numpy(element)), element) for element in elements.values())
    return {"keys": keys, "values": values}


def _entries(value: DataAttr | Restored, bundle: Bundle | None) -> DataAttr | None:
    """The keys or the values of a table, None if the checkpoint lacks them."""
    if isinstance(value, DataAttr):
        return value
    return bundle.read(value.key) if bundle is not None and value.key in bundle and not value.part else None


class Resources(Record):
    """The values of a graph's variables and hash tables.

    Args:
        variables: values of variables, by the names of their nodes.
        tables: properties `keys` and `values` of hash tables, by the names of their nodes.
    """

    variables: Mapping[str, DataAttr]
    tables: Mapping[str, dict[str, Attribute]]


def graph_resources(graph: Any, tensors: TensorReader, path: Path, checkpoint: Path | None) -> Resources:
    """The resources of a GraphDef without a MetaGraphDef.

    Args:
        graph: the GraphDef.
        tensors: reads its tensors.
        path: the file; text files of hash tables are read from its folder.
        checkpoint: prefix of the checkpoint, or one of its files.

    Raises ModelFileError if there is no such checkpoint, or a file is damaged.
    """
    assets = Assets(path, path.parent)
    execution = Execution(graph, tensors.read, {}, assets.open)
    execution.run(execution.table_initializers())
    bundle = None
    if checkpoint is not None:
        bundle = open_checkpoint(checkpoint)
        execution.run(execution.restoring())
    return Resources(Variables(graph, execution, bundle), table_contents(graph, execution, bundle))


def check_values(module: ModuleOp, hint: str) -> None:
    """Check that all variables and hash tables that a module reads have values.

    Args:
        module: the module, as it was imported.
        hint: for messages: the user's remedy for a missing value.

    Raises ModelFileError that names the variable or the table.
    """
    for op in module.walk():
        kind = op.name.removeprefix("tf.")
        if kind in VARIABLE_KINDS and "value" not in op.properties and _is_read(op):
            raise _missing(op, "the variable is read and has no value", hint)
        if kind in TABLE_KINDS and "keys" not in op.properties and _is_read(op):
            raise _missing(
                op, "the hash table has no constant content", "tables are filled from constants or from files in the model's folder"
            )


def _is_read(op: Operation) -> bool:
    return any(use.operation.name.removeprefix("tf.") not in _UNREAD_KINDS for result in op.results for use in result.uses)


def _missing(op: Operation, reason: str, hint: str) -> ModelFileError:
    name = op.attributes.get("name")
    return ModelFileError(reason, operation=op.name, node=str(getattr(name, "data", "")), hint=hint)
