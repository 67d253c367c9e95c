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
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Protocol, TypeGuard, cast

from moir.dialects.data import DataAttr
from moir.frontends.keras.configuration import Entry
from moir.frontends.keras.hdf5 import MAXIMUM_DEPTH, HDF5File, Object
from moir.support.decimals import decimal_of

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
        """The variables of each layer of a model, given by its entries.

        `counts_inputs` is whether the numbers in the names of groups count input layers: those of a Sequential model do
        not.
        """

    @abstractmethod
    def of_attribute(self, name: str) -> LayerWeights:
        """The variables of a layer that is an attribute of this one."""

    @abstractmethod
    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        """The names and values of the variables of a layer, without those of the inner layers that `of_layers`
        returns.
        """


class GroupFile(Protocol):
    """A file with groups of variables: an HDF5 file, or an archive of arrays."""

    def child(self, group: Object, name: str) -> Object | None:
        """A group or variable in a group; None if there is none."""
        ...

    def names(self, group: Object) -> list[str]:
        """The names in a group."""
        ...

    def is_dataset(self, item: Object | None) -> TypeGuard[Object]:
        """Whether something in the file is a variable; false for None."""
        ...

    def data(self, dataset: Object, name: str) -> DataAttr:
        """The value of a variable."""
        ...


class GroupedWeights(LayerWeights):
    """The variables of a group of an archive.

    Args:
        file: the file of the weights; None if there are no weights.
        group: the group; None if there is none.
    """

    def __init__(self, file: GroupFile | None, group: Object | None) -> None:
        self._file = file
        self._group = group

    @classmethod
    def empty(cls) -> GroupedWeights:
        """The weights of a group without variables."""
        return cls(None, None)

    def _child(self, *names: str) -> GroupedWeights:
        group = self._group
        for name in names:
            group = None if group is None or self._file is None else self._file.child(group, name)
        return GroupedWeights(self._file, group)

    def of_layers(self, entries: Sequence[Entry], *, counts_inputs: bool) -> list[LayerWeights]:
        counted = [not entry.is_operation and (entry.class_name != "InputLayer" or counts_inputs) for entry in entries]
        holder, former = self._child("layers"), self._child("_layer_checkpoint_dependencies")
        if holder._group is None and former._group is not None:
            layers = former._numbered(entries, counted, step=2)
            if former._has_all_variables(layers):
                return layers
            return [former._child(entry.name) for entry in entries]
        return holder._numbered(entries, counted, step=1)

    def _numbered(self, entries: Sequence[Entry], counted: Sequence[bool], step: int) -> list[LayerWeights]:
        """The groups of layers within this group. The name of a group is that of the class of its layer and the number
        of earlier layers of the class.

        Args:
            entries: the layers.
            counted: whether each of them has a group.
            step: how often a layer with variables counts. Keras 2.12 and 2.13 list such a layer twice, among those with
                variables and among all layers.
        """
        counts: Counter[str] = Counter()
        layers: list[LayerWeights] = []
        for entry, has_group in zip(entries, counted, strict=True):
            if not has_group:
                layers.append(GroupedWeights.empty())
                continue
            name = snake_case(entry.class_name)
            name = "grouped_query_attention" if entry.class_name == "GroupQueryAttention" else name
            number = counts[name]
            layer = self._child(f"{name}_{number}" if number else name)
            counts[name] += step if step > 1 and layer._has_variables(0) else 1
            layers.append(layer)
        return layers

    def _has_all_variables(self, layers: Sequence[LayerWeights]) -> bool:
        """Whether all groups within this one that have variables belong to `layers`."""
        groups = [layer._group for layer in layers if isinstance(layer, GroupedWeights)]
        own = [self._child(name) for name in (self._file.names(self._group) if self._file and self._group is not None else ())]
        return all(any(each._group is group for group in groups) for each in own if each._has_variables(0))

    def _has_variables(self, depth: int) -> bool:
        """Whether the group, or a group in it down to `depth` further levels, has variables."""
        if self._file is None or self._group is None or depth > MAXIMUM_DEPTH:
            return False
        return self._file.is_dataset(self._group) or any(
            self._child(name)._has_variables(depth + 1) for name in self._file.names(self._group)
        )

    def of_attribute(self, name: str) -> LayerWeights:
        return self._child(name)

    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        variables = self._variables("", 0)
        return in_order_of_cells(entry, variables) if entry.class_name == "RNN" else variables

    def _variables(self, prefix: str, depth: int) -> list[tuple[str, DataAttr]]:
        variables: list[tuple[str, DataAttr]] = []
        if self._file is None or self._group is None or depth > MAXIMUM_DEPTH:
            return variables
        own = self._child("vars")
        if own._group is not None:
            numbers = {number: name for name in self._file.names(own._group) if (number := decimal_of(name)) is not None}
            for _, name in sorted(numbers.items()):
                dataset = self._file.child(own._group, name)
                if self._file.is_dataset(dataset):
                    variables.append((prefix + name, self._file.data(dataset, prefix + name)))
        for name in self._file.names(self._group):
            if name not in _PARTS and name not in UNCOUNTED:
                variables += self._child(name)._variables(f"{prefix}{name.lstrip('_')}/", depth + 1)
        return variables


def in_order_of_cells(entry: Entry, variables: list[tuple[str, DataAttr]]) -> list[tuple[str, DataAttr]]:
    """Sort the variables of a layer RNN in the order of its cells; files have them in the order of the names of their
    groups.

    The variables of any other layer are returned unchanged.
    """
    cell = entry.config.get("cell")
    config = cast("dict[str, Any]", cell).get("config") if isinstance(cell, dict) else None
    cells = cast("dict[str, Any]", config).get("cells") if isinstance(config, dict) else None
    if not isinstance(cells, list):
        return variables
    counts: Counter[str] = Counter()
    ordered: list[tuple[str, DataAttr]] = []
    for each in cast("list[Any]", cells):
        name = snake_case(str(cast("dict[str, Any]", each).get("class_name"))) if isinstance(each, dict) else ""
        group = f"{name}_{counts[name]}" if counts[name] else name
        counts[name] += 1
        ordered += [variable for variable in variables if group in variable[0].split("/")]
    return ordered if len(ordered) == len(variables) else variables


Variable = tuple[Sequence[str], Callable[[], DataAttr]]
"""A variable: the parts of its name, and a function that reads its value."""


class NamedWeights(LayerWeights):
    """The variables of a layer, or of a model, whose names have the names of layers as parts.

    Args:
        all_variables: the variables, in order.
    """

    def __init__(self, all_variables: Sequence[Variable]) -> None:
        self._variables = all_variables

    @classmethod
    def of_file(cls, file: HDF5File, group: Object | None) -> NamedWeights:
        """The variables of a model in an HDF5 file: `layer_names` of the group, and `weight_names` of each.

        None for the group gives no variables. Raises ModelFileError if a variable is missing.
        """
        read: list[Variable] = []
        if group is None:
            return cls(read)
        for layer in file.strings(group, "layer_names") or []:
            holder = file.child(group, layer)
            if holder is None:
                continue
            for name in file.strings(holder, "weight_names") or []:
                dataset = file.child(holder, name)
                if not file.is_dataset(dataset):
                    raise file.error(f"the variable {name!r} of the layer {layer!r} is missing")
                parts = [layer, *parts_of(name)]
                read.append((parts, partial(file.data, dataset, "/".join(parts))))
        return cls(read)

    def of_layers(self, entries: Sequence[Entry], *, counts_inputs: bool) -> list[LayerWeights]:
        """The weights of each layer: a variable belongs to the first layer whose name is a component of its path.

        A variable whose path has no layer of this model belongs to a layer of a nested model: each nested model has it.
        """
        names = {entry.name for entry in entries}
        by_layer: dict[str, list[Variable]] = {}
        of_nested: list[Variable] = []
        for parts, value in self._variables:
            index = next((index for index, part in enumerate(parts[:-1]) if part in names), None)
            if index is not None:
                by_layer.setdefault(parts[index], []).append((parts[index + 1 :], value))
            else:
                of_nested.append((parts, value))
        return [NamedWeights(by_layer.get(entry.name, []) + (of_nested if entry.is_model else [])) for entry in entries]

    def of_attribute(self, name: str) -> LayerWeights:
        return self

    def variables(self, entry: Entry) -> list[tuple[str, DataAttr]]:
        variables: list[tuple[str, DataAttr]] = []
        counts: Counter[str] = Counter()
        for parts, value in in_order_of_archives(self._variables):
            holders = [part for part in parts[:-1] if part != entry.name]
            if parts[-1] in ("seed_generator_state", "vector_u", "sn_u") or any(part in UNCOUNTED for part in holders):
                continue
            prefix = holder_of(entry, holders)
            name = f"{prefix}{counts[prefix]}"
            counts[prefix] += 1
            variables.append((name, value()))
        return variables


def parts_of(name: str) -> list[str]:
    """The parts of the name of a variable, without the number of an output: `dense/kernel:0` -> `dense`, `kernel`."""
    return (name.rpartition(":")[0] if re.search(r":\d+$", name) else name).split("/")


_QUANTIZED = (
    *("kernel", "embeddings", "bias", "inputs_scale", "inputs_amax_history", "kernel_scale", "embeddings_scale", "kernel_zero"),
    *("embeddings_zero", "g_idx", "outputs_grad_scale", "outputs_grad_amax_history"),
)
"""The names of the variables of a quantized layer, in the order of an archive."""


def in_order_of_archives(variables: Sequence[Variable]) -> Sequence[Variable]:
    """Sort the variables of a quantized layer, which an HDF5 file lists with trained ones first, in the order of a
    `.keras` archive.
    """
    if not any(parts[-1].endswith("_scale") for parts, _ in variables):
        return variables
    numbers = {name: number for number, name in enumerate(_QUANTIZED)}
    return sorted(variables, key=lambda each: numbers.get(each[0][-1], len(numbers)))


def _name_of_layer(names: Any) -> str:
    """The name of an inner layer, from its configuration; empty if that has none."""
    config: Any = cast("dict[str, Any]", names).get("config") if isinstance(names, dict) else None
    return str(cast("dict[str, Any]", config).get("name", "")) if isinstance(config, dict) else ""


ATTENTION = frozenset(("MultiHeadAttention", "GroupQueryAttention", "GroupedQueryAttention"))
_PROJECTIONS = {"attention_output": "output_dense/", "query": "query_dense/", "key": "key_dense/", "value": "value_dense/"}


def holder_of(entry: Entry, holders: Sequence[str]) -> str:
    """The prefix of the name of a variable in an archive of Keras 3: the attributes of the layers that hold it.

    `entry` is the layer that contains the variable, `holders` the names of the layers within it that hold the variable
    in an HDF5 file. Empty if the layer itself holds the variable.
    """
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
