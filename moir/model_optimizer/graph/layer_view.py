"""`node.pb` and `node.model_pb` of a Caffe layer: its parameters as fields of messages, and its weights.

    node.pb.convolution_param.kernel_size[0], node.pb.python_param.param_str, node.model_pb.blobs[0].data

A text does not say whether a field is repeated, and has no field that is at its default: a single value is also a list
of one, and an absent field is 0, an empty list or an empty message, whatever it is used as.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.data import Array
from moir.dialects.framework import decode_kind
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.properties import value_of

BLOBS = "blobs"
PYTHON_KIND = "Python"


class _One:
    """A value that is also a list of itself."""

    def __iter__(self) -> Iterator[Any]:
        yield self

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        return [self][index]


class IntegerField(_One, int):
    """An integer."""


class NumberField(_One, float):
    """A float."""


class AbsentField(int):
    """A field that the text does not have."""

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
    """

    def __init__(self, fields: Mapping[str, Attribute]) -> None:
        self._fields = fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return _field(self._fields[name]) if name in self._fields else AbsentField()

    def HasField(self, name: str) -> bool:
        """Whether the message has a field."""
        return name in self._fields

    def ListFields(self) -> list[tuple[FieldDescriptor, Any]]:
        """The fields with their values."""
        return [(FieldDescriptor(name), _field(value)) for name, value in self._fields.items()]


@dataclass(frozen=True)
class FieldDescriptor:
    """What is known of a field."""

    name: str


def _field(attribute: Attribute) -> Any:
    if isinstance(attribute, DictionaryAttr):
        return FieldsMessage(attribute.data)
    if isinstance(attribute, ArrayAttr):
        return [_field(each) for each in cast("ArrayAttr[Attribute]", attribute)]
    value = value_of(attribute)
    if isinstance(value, tuple):
        return list(cast("tuple[Any, ...]", value))
    if isinstance(value, bool | str):
        return value
    return IntegerField(value) if isinstance(value, int) else NumberField(value)


@dataclass(frozen=True)
class BlobShape:
    """The shape of a blob."""

    dim: list[int]


@dataclass(frozen=True)
class Blob:
    """A weight of a layer."""

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
    """The layer as the file of weights has it."""

    name: str
    type: str
    blobs: list[Blob] = field(default_factory=list[Blob])


class LayerMessage(FieldsMessage):
    """A layer as the text has it."""

    def __init__(self, op: Operation) -> None:
        super().__init__({name: value for name, value in op.properties.items() if name != BLOBS})
        self.name = name_of(op) or ""
        self.type = decode_kind(op.name.partition(".")[2])


def weights_message(op: Operation) -> WeightsMessage:
    """The weights of a Caffe layer: the last of its operands."""
    found = op.properties.get(BLOBS)
    count = 0 if found is None else int(value_of(found))
    owners = [operand.owner for operand in list(op.operands)[len(op.operands) - count :]]
    blobs = [Blob(owner.value.array) for owner in owners if isinstance(owner, Constant)]
    return WeightsMessage(name_of(op) or "", decode_kind(op.name.partition(".")[2]), blobs)


def python_layer(op: Operation) -> str | None:
    """`module.Layer` of a Caffe layer that is written in Python; None for any other operation."""
    if op.name != f"caffe.{PYTHON_KIND}":
        return None
    message = LayerMessage(op).python_param
    return f"{message.module}.{message.layer}"
