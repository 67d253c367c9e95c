"""`node.pb` and `node.model_pb` of a Caffe layer: its parameters as fields of messages, and its weights.

    node.pb.convolution_param.kernel_size[0], node.pb.python_param.param_str, node.model_pb.blobs[0].data

A text does not say whether a field is repeated, and has no field that is at its default. For the messages of Caffe
`caffe_fields` says both; in other messages a single value can also be used as a list of one, and an absent field as 0,
an empty list or an empty message. The names of enumerations are numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.data import Array
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.caffe.fields import Enumeration, defaults, enumerations, messages, repeated
from moir.model_optimizer.frameworks.lookup import original_of
from moir.model_optimizer.frameworks.tensor_names import tensor_name

BLOBS = "blobs"
PYTHON_KIND = "Python"


class _One:
    """A base class of single values that can also be used like a list with this one entry."""

    def __iter__(self) -> Iterator[Any]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        return [self][index]


class IntegerField(_One, int):
    """An integer that can also be used as a list with this one entry."""


class NumberField(_One, float):
    """A float that can also be used as a list with this one entry."""


class AbsentField(int):
    """A field that the text does not have, and whose default is 0, empty or false."""

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return AbsentField()

    def __str__(self) -> str:
        return ""


class FieldsMessage:
    """A message: its fields are attributes.

    Args:
        fields: the fields, as attributes of an operation.
        path: the names of the fields, joined by dots, that lead from the layer to the message.
    """

    def __init__(self, fields: Mapping[str, Attribute], path: str = "") -> None:
        self._fields = fields
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = self._path_of(name)
        if name in self._fields:
            is_single = path in repeated() and not isinstance(self._fields[name], ArrayAttr | DenseArrayBase)
            return [_field(self._fields[name], path)] if is_single else _field(self._fields[name], path)
        if path in repeated():
            return []
        if path in messages():
            return FieldsMessage({}, path)
        default = defaults().get(self._path, {}).get(name)
        return AbsentField() if default is None else _single(default)

    def HasField(self, name: str) -> bool:
        """Whether the message has a field."""
        return name in self._fields

    def ListFields(self) -> list[tuple[FieldDescriptor, Any]]:
        """The fields with their values."""
        return [(self._descriptor(name), getattr(self, name)) for name in self._fields]

    def default_fields(self) -> list[tuple[FieldDescriptor, Any]]:
        """Fields missing in the text -> their defaults, unless these are 0, empty or false."""
        absent = [name for name in defaults().get(self._path, {}) if name not in self._fields]
        return [(self._descriptor(name), getattr(self, name)) for name in absent]

    def _descriptor(self, name: str) -> FieldDescriptor:
        return FieldDescriptor(name, enumerations().get(self._path_of(name)))

    def _path_of(self, name: str) -> str:
        return f"{self._path}.{name}" if self._path else name


@dataclass(frozen=True)
class FieldDescriptor:
    """The description of a field, as extensions get it.

    Args:
        name: its name.
        enumeration: the enumeration that its values are from; None for other fields.
    """

    name: str
    enumeration: Enumeration | None = None


def _field(attribute: Attribute, path: str) -> Any:
    if isinstance(attribute, DictionaryAttr):
        return FieldsMessage(attribute.data, path)
    if isinstance(attribute, ArrayAttr):
        return [_field(each, path) for each in cast("ArrayAttr[Attribute]", attribute)]
    value = value_of(attribute)
    if isinstance(value, tuple):
        return list(cast("tuple[Any, ...]", value))
    if isinstance(value, str) and path in enumerations():
        value = enumerations()[path].numbers.get(value, value)
    return _single(value)


def _single(value: Any) -> Any:
    """The value of a field that is not repeated; a number can also be used as a list of one."""
    if isinstance(value, bool | str):
        return value
    return IntegerField(value) if isinstance(value, int) else NumberField(value)


@dataclass(frozen=True)
class BlobShape:
    """A stand-in for Caffe's message of the shape of a blob."""

    dim: list[int]


@dataclass(frozen=True)
class Blob:
    """A stand-in for Caffe's message of a layer's weight: its values and its shape."""

    array: Array

    @property
    def data(self) -> Array:
        """The values in C order."""
        return self.array.reshape(-1)

    @property
    def shape(self) -> BlobShape:
        """The shape."""
        return BlobShape(list(self.array.shape))


@dataclass
class WeightsMessage:
    """A layer as it is stored in the file of weights."""

    name: str
    type: str
    blobs: list[Blob] = field(default_factory=list[Blob])


class LayerMessage(FieldsMessage):
    """A layer as in the text; `bottom` and `top` are the names of the tensors that it takes and computes."""

    def __init__(self, kind: str, op: Operation) -> None:
        super().__init__({name: value for name, value in op.properties.items() if name != BLOBS})
        self.name = name_of(op) or ""
        self.type = kind
        self.bottom = [tensor_name(operand) for operand in op.operands[: len(op.operands) - _blob_count(op)]]
        self.top = [tensor_name(result) for result in op.results]


def _blob_count(op: Operation) -> int:
    """The number of weights of a layer, which are its last operands."""
    value = op.properties.get(BLOBS)
    return 0 if value is None else int(value_of(value))


def weights_message(kind: str, op: Operation) -> WeightsMessage:
    """The weights of a Caffe layer: the last of its operands."""
    owners = [operand.owner for operand in list(op.operands)[len(op.operands) - _blob_count(op) :]]
    blobs = [Blob(owner.value.array) for owner in owners if isinstance(owner, Constant)]
    return WeightsMessage(name_of(op) or "", kind, blobs)


def python_layer(op: Operation) -> str | None:
    """`module.Layer` of a Caffe layer that is written in Python; None for any other operation."""
    if original_of(op)[1] != PYTHON_KIND:
        return None
    message = LayerMessage(PYTHON_KIND, op).python_param
    return f"{message.module}.{message.layer}"
