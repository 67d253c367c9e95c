"""The inputs and outputs of a model, with the facts that running it needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Operation

from moir.analysis.model_ports import ModelPorts, names_of_port, value_of_port
from moir.dialects.element_types import describe, is_element_type, string, to_numpy
from moir.dialects.memory_map import Array
from moir.dialects.moir import ModelOp, models_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import Shape, element_of, shape_of
from moir.errors import ExecutionError, UsageError
from moir.rewriting.model_inputs import dimension_names
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

_TEXT_KINDS = "OSU"
"""The values of `dtype.kind` of numpy's types that contain strings."""


class TensorPort(Record):
    """An input or output of a model.

    Args:
        name: its name.
        others: further names of it: those of the tensor and of the node.
        element: its element type.
        shape: its shape, in elements, -1 where dynamic; None if the rank is dynamic.
        dimension_names: the names of its first dimensions, empty for those without.
    """

    name: str
    others: tuple[str, ...]
    element: Attribute
    shape: Shape | None
    dimension_names: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return (self.name, *self.others)

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The element type in numpy; None if it is not known."""
        return to_numpy(self.element) if is_element_type(self.element) else None

    def __str__(self) -> str:
        sizes = "…" if self.shape is None else ",".join("?" if size < 0 else str(size) for size in self.shape)
        element = describe(self.element).xml if is_element_type(self.element) else str(self.element)
        return f"{self.name}: {element}[{sizes}]"


class Interface(Record):
    """The inputs and outputs of a model, in order."""

    inputs: tuple[TensorPort, ...]
    outputs: tuple[TensorPort, ...]

    def in_order(self, arrays: Mapping[str, Array]) -> list[Array]:
        """The arrays, given by the names of inputs, as a list in the order of the inputs.

        Raises UsageError for an array of another kind than its input: strings for numbers, complex numbers for real
        ones.
        """
        for port in self.inputs:
            kind = arrays[port.name].dtype.kind
            if (port.dtype is not None and (port.element == string) != (kind in _TEXT_KINDS)) or kind == "c":
                raise UsageError(f"the array for the input {port} is of {arrays[port.name].dtype}")
        return [arrays[port.name] for port in self.inputs]


def only_model(module: ModuleOp) -> ModelOp:
    """The model of a module. Raises ExecutionError if there is none, or more than one."""
    models = models_of(module)
    if len(models) != 1:
        raise ExecutionError(f"a module with one model can be run, this one has {len(models)}")
    return models[0]


def interface_of(module: ModuleOp) -> Interface:
    """The inputs and outputs of a module."""
    ports = ModelPorts(only_model(module))
    return Interface(tuple(map(_port, ports.inputs)), tuple(map(_port, ports.outputs)))


def _port(port: Operation) -> TensorPort:
    name, *others = names_of_port(port) or ["?"]
    value = value_of_port(port)
    names = dimension_names(port) if isinstance(port, Parameter) else ()
    return TensorPort(name, tuple(others), element_of(value), shape_of(value), tuple(names))


def matched(given: Mapping[str, Array], ports: Iterable[TensorPort], what: str) -> dict[str, Array]:
    """Arrays by the first name of their port, from arrays by any name of their port; arrays that belong to no port are
    left out.

    A single array belongs to a single port, whatever its name. If two ports share a name, each takes the array with its
    first name. Raises UsageError if a port, which messages call `what`, has no array.
    """
    ports = list(ports)
    if len(ports) == 1 and len(given) == 1:
        return {ports[0].name: next(iter(given.values()))}
    arrays: dict[str, Array] = {}
    for port in ports:
        name = next((name for name in port.names if name in given), None)
        if name is None:
            listed = f"there are {', '.join(given) or 'none'}"
            raise UsageError(f"there is no array for the {what} {port.name!r}", hint=did_you_mean(port.name, given, listed))
        arrays[port.name] = given[name]
    return arrays
