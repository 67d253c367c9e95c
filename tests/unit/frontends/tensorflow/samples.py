"""Small TensorFlow graphs for the tests of the frontend, and short ways to look at what was read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.frontends.tensorflow import read_model
from moir.frontends.tensorflow.graph import GraphImporter
from moir.frontends.tensorflow.messages import DATA_TYPE_NAMES, message_class
from moir.frontends.tensorflow.tensors import TensorReader

NUMPY_TYPES = {"float32": "FLOAT", "float64": "DOUBLE", "int32": "INT32", "int64": "INT64", "bool": "BOOL", "float16": "HALF"}


def data_type(name: str) -> int:
    """The number of a data type."""
    return DATA_TYPE_NAMES.index(name)


@dataclass(frozen=True)
class Type:
    """An attribute that is a data type."""

    name: str


@dataclass(frozen=True)
class Shape:
    """An attribute that is a shape; None is unknown."""

    dims: Sequence[int] | None


@dataclass(frozen=True)
class Call:
    """An attribute that is a function."""

    name: str
    attributes: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Placeholder:
    """An attribute that stands for one of the function."""

    name: str


FLOAT, INT32 = Type("FLOAT"), Type("INT32")


def tensor(array: Any, dtype: Any = np.float32) -> Any:
    """A TensorProto with `tensor_content`."""
    array = np.asarray(array, dtype)
    proto = message_class("TensorProto")(dtype=data_type(NUMPY_TYPES[array.dtype.name]), tensor_content=array.tobytes())
    fill_shape(proto.tensor_shape, array.shape)
    return proto


def fill_shape(message: Any, dims: Sequence[int] | None) -> None:
    """Set a TensorShapeProto."""
    message.SetInParent()
    message.unknown_rank = dims is None
    for size in dims or ():
        message.dim.add(size=size)


def attribute(value: Any) -> Any:
    """The AttrValue of a Python value."""
    proto = message_class("AttrValue")()
    match value:
        case bool():
            proto.b = value
        case int():
            proto.i = value
        case float():
            proto.f = value
        case str():
            proto.s = value.encode()
        case bytes():
            proto.s = value
        case Type():
            proto.type = data_type(value.name)
        case Shape():
            fill_shape(proto.shape, value.dims)
        case Placeholder():
            proto.placeholder = value.name
        case Call():
            proto.func.name = value.name
            set_attributes(proto.func.attr, value.attributes or {})
        case list():
            fill_list(proto.list, value)
        case _:
            proto.tensor.CopyFrom(value)
    return proto


def fill_list(message: Any, values: list[Any]) -> None:
    """Set an AttrValue.ListValue."""
    message.SetInParent()
    for item in map(attribute, values):
        field = item.WhichOneof("value")
        target = getattr(message, field)
        if field in ("shape", "tensor", "func"):
            target.add().CopyFrom(getattr(item, field))
        else:
            target.append(getattr(item, field))


def set_attributes(target: Any, attributes: Mapping[str, Any]) -> None:
    """Set a map of AttrValues."""
    for name, value in attributes.items():
        target[name].CopyFrom(attribute(value))


def node(name: str, kind: str, inputs: str = "", **attributes: Any) -> Any:
    """A NodeDef; inputs separated by blanks."""
    proto = message_class("NodeDef")(name=name, op=kind, input=inputs.split())
    set_attributes(proto.attr, attributes)
    return proto


def placeholder(name: str, shape: Sequence[int] | None = (2, -1), type_: Type = FLOAT) -> Any:
    """A Placeholder."""
    return node(name, "Placeholder", dtype=type_, shape=Shape(shape))


def constant(name: str, array: Any, dtype: Any = np.float32) -> Any:
    """A Const."""
    value = tensor(array, dtype)
    return node(name, "Const", dtype=Type(DATA_TYPE_NAMES[value.dtype]), value=value)


def function(name: str, arguments: str, outputs: str, nodes: Sequence[Any], results: Mapping[str, str], **defaults: Any) -> Any:
    """A FunctionDef; arguments and outputs `name:TYPE`, or `name:$attribute`, separated by blanks."""
    proto = message_class("FunctionDef")(node_def=list(nodes))
    proto.signature.name = name
    for target, text in ((proto.signature.input_arg, arguments), (proto.signature.output_arg, outputs)):
        for part in text.split():
            own, _, kind = part.partition(":")
            if kind.startswith("$"):
                target.add(name=own, type_attr=kind[1:])
            else:
                target.add(name=own, type=data_type(kind or "FLOAT"))
    for key, value in results.items():
        proto.ret[key] = value
    for key, value in defaults.items():
        proto.signature.attr.add(name=key).default_value.CopyFrom(attribute(value))
    return proto


def graph(*nodes: Any, functions: Sequence[Any] = (), producer: int = 1000) -> Any:
    """A GraphDef."""
    proto = message_class("GraphDef")(node=list(nodes))
    proto.library.function.extend(functions)
    proto.versions.producer = producer
    return proto


def read(content: Any, folder: Path, name: str = "model.pb") -> ModuleOp:
    """Write a model and read it with moir; the result is verified."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.SerializeToString())
    module = read_model(path)
    module.verify()
    return module


def imported(content: Any, **more: Any) -> ModuleOp:
    """The module of a graph whose variables may have no values; further arguments are those of the importer."""
    path = Path("model.pb")
    module = GraphImporter(path, content, TensorReader(path), **more).module("model")
    module.verify()
    return module


def operations(module: ModuleOp, kind: str | None = None) -> list[Operation]:
    """The operations of the model, of one kind if it is given."""
    return [op for op in models_of(module)[0].block.ops if kind is None or op.name == kind]


def the(module: ModuleOp, kind: str) -> Operation:
    """The only operation of a kind."""
    actual = operations(module, kind)
    assert len(actual) == 1
    return actual[0]


def names(module: ModuleOp, kind: str) -> list[str | None]:
    """Names of the operations of a kind."""
    return [name_of(op) for op in operations(module, kind)]


def tensor_names(op: Operation) -> list[str]:
    """The tensor names of an operation, those of a result separated by commas."""
    return list(value_of(op.attributes["tensor_names"]))


def properties(op: Operation) -> dict[str, Any]:
    """The properties of an operation as Python values."""
    return {name: value_of(value) for name, value in op.properties.items()}


def notes(module: ModuleOp) -> list[str]:
    """The notes of the model."""
    actual = models_of(module)[0].attributes.get(ModuleLevel.NOTES)
    return [] if actual is None else list(value_of(actual))
