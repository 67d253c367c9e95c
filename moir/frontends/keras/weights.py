"""Finds the variables of a layer in a file.

In an archive the groups are named as classes, counted in the order of the layers; in an HDF5 file they are named as
the layers, and the variables as the layers inside of them.

    layers/dense_1/vars/0                        the kernel of the second Dense
    model_weights/attention/query/kernel         the same as query_dense/0 in an archive

The variables of a layer have the names that they have in an archive of Keras 3: their number, after the attributes of
the layers that hold them.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from moir.decimals import decimal_of
from moir.dialects.data import DataAttr
from moir.frontends.keras.configuration import Entry
from moir.frontends.keras.hdf5 import MAXIMUM_DEPTH, HDF5File, Object

UNCOUNTED = frozenset(("seed_generator", "_metrics", "optimizer", "_loss_tracker"))
"""Groups whose variables do not take part in the computation."""

_PARTS = ("vars", "layers", "_layer_checkpoint_dependencies")


def snake_case(name: str) -> str:
    """The name of the group of a class: `Conv2DTranspose` -> `conv2d_transpose`."""
    name = re.sub(r"\W+", "", name)
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


class LayerWeights(ABC):
    """The variables of a layer, or of a model with layers."""

    @abstractmethod
    def of_layers(self, entries: Sequence[Entry], *, counts_inputs: bool) -> list[LayerWeights]:
        """The variables of each layer of a model. The groups of a Sequential model do not count its input layer."""

    @abstractmethod
    def of_attribute(self, name: str) -> LayerWeights:
        """The variables of a layer that is an attribute of this one."""

    @abstractmethod
    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        """The names and values of the variables of a layer, without those of layers that `of_layers` gives."""


class GroupedWeights(LayerWeights):
    """The variables of a group of an archive.

    Args:
        file: the HDF5 file; None if there are no weights.
        group: the group; None if there is none.
    """

    def __init__(self, file: HDF5File | None, group: Object | None) -> None:
        self._file = file
        self._group = group

    @classmethod
    def empty(cls) -> GroupedWeights:
        """No variables."""
        return cls(None, None)

    def _child(self, *names: str) -> GroupedWeights:
        group = self._group
        for name in names:
            group = None if group is None or self._file is None else self._file.child(group, name)
        return GroupedWeights(self._file, group)

    def of_layers(self, entries: Sequence[Entry], *, counts_inputs: bool) -> list[LayerWeights]:
        holder = self._child("layers")
        if holder._group is None:
            named = self._child("_layer_checkpoint_dependencies")
            if named._group is not None:
                return [named._child(entry.name) for entry in entries]
        counts: Counter[str] = Counter()
        found: list[LayerWeights] = []
        for entry in entries:
            if entry.is_operation or (entry.class_name == "InputLayer" and not counts_inputs):
                found.append(GroupedWeights.empty())
                continue
            name = snake_case(entry.class_name)
            name = "grouped_query_attention" if entry.class_name == "GroupQueryAttention" else name
            number = counts[name]
            counts[name] += 1
            found.append(holder._child(f"{name}_{number}" if number else name))
        return found

    def of_attribute(self, name: str) -> LayerWeights:
        return self._child(name)

    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        found = self._variables("", 0)
        return in_order_of_cells(entry, found) if entry.class_name == "RNN" else found

    def _variables(self, prefix: str, depth: int) -> list[tuple[str, DataAttr]]:
        found: list[tuple[str, DataAttr]] = []
        if self._file is None or self._group is None or depth > MAXIMUM_DEPTH:
            return found
        own = self._child("vars")
        if own._group is not None:
            numbers = {number: name for name in self._file.names(own._group) if (number := decimal_of(name)) is not None}
            for _, name in sorted(numbers.items()):
                dataset = self._file.child(own._group, name)
                if self._file.is_dataset(dataset):
                    found.append((prefix + name, self._file.data(dataset, prefix + name)))
        for name in self._file.names(self._group):
            if name not in _PARTS and name not in UNCOUNTED:
                found += self._child(name)._variables(f"{prefix}{name.lstrip('_')}/", depth + 1)
        return found


def in_order_of_cells(entry: Entry, variables: list[tuple[str, DataAttr]]) -> list[tuple[str, DataAttr]]:
    """The variables of a layer RNN in the order of its cells, whose groups are in the order of their names."""
    cell = entry.config.get("cell")
    config = cast("dict[str, Any]", cell).get("config") if isinstance(cell, dict) else None
    cells = cast("dict[str, Any]", config).get("cells") if isinstance(config, dict) else None
    if not isinstance(cells, list):
        return variables
    counts: Counter[str] = Counter()
    found: list[tuple[str, DataAttr]] = []
    for each in cast("list[Any]", cells):
        name = snake_case(str(cast("dict[str, Any]", each).get("class_name"))) if isinstance(each, dict) else ""
        group = f"{name}_{counts[name]}" if counts[name] else name
        counts[name] += 1
        found += [variable for variable in variables if group in variable[0].split("/")]
    return found if len(found) == len(variables) else variables


class NamedWeights(LayerWeights):
    """The variables of a layer of an HDF5 file.

    Args:
        file: the HDF5 file.
        datasets: the variables with the parts of their names, in order.
    """

    def __init__(self, file: HDF5File, datasets: Sequence[tuple[Sequence[str], Object]]) -> None:
        self._file = file
        self._datasets = datasets

    @classmethod
    def of_file(cls, file: HDF5File, group: Object | None) -> NamedWeights:
        """The variables of a model: `layer_names` of the group, and `weight_names` of each."""
        found: list[tuple[Sequence[str], Object]] = []
        if group is None:
            return cls(file, found)
        for layer in file.strings(group, "layer_names") or []:
            holder = file.child(group, layer)
            if holder is None:
                continue
            for name in file.strings(holder, "weight_names") or []:
                dataset = file.child(holder, name)
                if not file.is_dataset(dataset):
                    raise file.error(f"the variable {name!r} of the layer {layer!r} is missing")
                parts = name.rpartition(":")[0] if re.search(r":\d+$", name) else name
                found.append(([layer, *parts.split("/")], dataset))
        return cls(file, found)

    def of_layers(self, entries: Sequence[Entry], *, counts_inputs: bool) -> list[LayerWeights]:
        """Each variable belongs to the first layer whose name is a part of its path."""
        names = {entry.name for entry in entries}
        found: dict[str, list[tuple[Sequence[str], Object]]] = {}
        for parts, dataset in self._datasets:
            place = next((place for place, part in enumerate(parts[:-1]) if part in names), None)
            if place is not None:
                found.setdefault(parts[place], []).append((parts[place + 1 :], dataset))
        return [NamedWeights(self._file, found.get(entry.name, [])) for entry in entries]

    def of_attribute(self, name: str) -> LayerWeights:
        return self

    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        found: list[tuple[str, DataAttr]] = []
        counts: Counter[str] = Counter()
        for parts, dataset in in_order_of_archives(self._datasets):
            holders = [part for part in parts[:-1] if part != entry.name]
            if parts[-1] in ("seed_generator_state", "vector_u", "sn_u") or any(part in UNCOUNTED for part in holders):
                continue
            prefix = holder_of(entry, holders)
            name = f"{prefix}{counts[prefix]}"
            counts[prefix] += 1
            found.append((name, self._file.data(dataset, "/".join(parts))))
        return found


_QUANTIZED = (
    *("kernel", "embeddings", "bias", "inputs_scale", "inputs_amax_history", "kernel_scale", "embeddings_scale", "kernel_zero"),
    *("embeddings_zero", "g_idx", "outputs_grad_scale", "outputs_grad_amax_history"),
)
"""The names of the variables of a quantized layer, in the order of an archive."""


def in_order_of_archives(found: Sequence[tuple[Sequence[str], Object]]) -> Sequence[tuple[Sequence[str], Object]]:
    """The datasets of a layer in the order of an archive: those that are trained come first only in an HDF5 file."""
    if not any(parts[-1].endswith("_scale") for parts, _ in found):
        return found
    numbers = {name: number for number, name in enumerate(_QUANTIZED)}
    return sorted(found, key=lambda each: numbers.get(each[0][-1], len(numbers)))


def _name_of_layer(found: Any) -> str:
    """The name of a layer in the configuration of another one; empty if there is none."""
    config: Any = cast("dict[str, Any]", found).get("config") if isinstance(found, dict) else None
    return str(cast("dict[str, Any]", config).get("name", "")) if isinstance(config, dict) else ""


ATTENTION = frozenset(("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention"))
_PROJECTIONS = {"attention_output": "output_dense/", "query": "query_dense/", "key": "key_dense/", "value": "value_dense/"}


def holder_of(entry: Entry, holders: Sequence[str]) -> str:
    """The prefix of the name of a variable in an archive, by the names of the layers around it in an HDF5 file."""
    if entry.class_name in ATTENTION:
        return next((_PROJECTIONS[part] for part in holders if part in _PROJECTIONS), "")
    if entry.class_name == "Bidirectional":
        is_backward = any("backward" in part for part in holders) or _name_of_layer(entry.config.get("backward_layer")) in holders
        return "backward_layer/cell/" if is_backward else "forward_layer/cell/"
    if entry.class_name in ("RNN", "StackedRNNCells"):
        return "".join(f"{part}/" for part in holders)
    if entry.class_name in ("TimeDistributed", "SpectralNormalization"):
        return "layer/"
    return ""
