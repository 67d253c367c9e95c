"""AttrValue -> property.

The property of a float attribute, which has 32 bits, is the shortest decimal number that reads back as that float.
Source: attr_value.proto of TensorFlow 2.21.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ComplexType
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.properties import (
    boolean_attribute,
    float_attribute,
    floats_attribute,
    integer_attribute,
    integers_attribute,
    string_attribute,
)
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.tensorflow.dimension_numbers import ATTRIBUTE, MESSAGE_OF_KIND, dimension_properties
from moir.frontends.tensorflow.messages import reader
from moir.frontends.tensorflow.tensors import DATA_TYPES, TensorReader, element_type

Bindings: TypeAlias = Mapping[str, Any]
"""The attributes of a function call, AttrValues by name."""

UNKNOWN_RANK = string_attribute("unknown rank")
"""The element that stands for a shape of dynamic rank in a list of shapes."""

_COMPLEX = {"COMPLEX64": ComplexType(element_types.f32), "COMPLEX128": ComplexType(element_types.f64)}


def type_attribute(data_type: int) -> Attribute:
    """The property for the number of a data type: its element type, a complex one for complex numbers."""
    row = DATA_TYPES.get(data_type)
    return _COMPLEX[row.name] if row is not None and row.is_complex else element_type(data_type)


def string(value: bytes) -> Attribute:
    """A string as a property; bytes that are not UTF-8 become data."""
    try:
        return string_attribute(value.decode())
    except UnicodeDecodeError:
        return DataAttr.of(np.frombuffer(value, np.uint8), element_types.ui8)


def dimensions(shape: Any) -> tuple[int, ...] | None:
    """The dimensions of a TensorShapeProto, with -1 for dynamic ones; None if the rank is dynamic."""
    return None if shape.unknown_rank else tuple(max(dimension.size, -1) for dimension in shape.dim)


def list_length(value: Any) -> int:
    """The number of elements of an AttrValue: the length of a list, or the value of an integer."""
    if value.WhichOneof("value") == "i":
        return int(value.i)
    return sum(len(getattr(value.list, name)) for name in reader("ListValue").FIELDS)


class AttributeReader:
    """Converts the attributes of nodes to properties.

    Args:
        tensors: reads the attributes that are tensors.
    """

    def __init__(self, tensors: TensorReader) -> None:
        self.tensors = tensors

    def properties(self, attributes: Iterable[tuple[str, Any]], kind: str, node: str) -> dict[str, Attribute]:
        """The properties of a node. Attributes without a value, internal ones, and functions are left out.

        Args:
            attributes: names and AttrValues, with placeholders replaced.
            kind: kind of the node, for messages.
            node: its name, for messages.

        Raises ModelFileError, with kind and name of the node, for an attribute that is damaged.
        """
        properties: dict[str, Attribute] = {}
        for name, value in attributes:
            if name.startswith("_"):
                continue
            try:
                if name == ATTRIBUTE and kind in MESSAGE_OF_KIND and value.WhichOneof("value") == "s":
                    properties |= dimension_properties(kind, value.s)
                    continue
                converted = self.convert(value, f"{name} of {node}")
            except ModelFileError as error:
                raise ModelFileError(error.reason, operation=f"tf.{kind}", node=node, location=error.location, hint=error.hint) from error
            if converted is not None:
                properties[name] = converted
        return properties

    def convert(self, value: Any, context: str) -> Attribute | None:
        """The property for one attribute; None if it has no value or is a function.

        `context` says where it is, for messages.
        """
        match value.WhichOneof("value"):
            case "i":
                return integer_attribute(value.i)
            case "type":
                return type_attribute(value.type)
            case "b":
                return boolean_attribute(value.b)
            case "f":
                return float_attribute(shortest(value.f))
            case "s":
                return string(value.s)
            case "shape":
                shape = dimensions(value.shape)
                return None if shape is None else integers_attribute(shape)
            case "tensor":
                return self.tensors.read(value.tensor, context)
            case "list":
                return self.convert_list(value.list, context)
            case _:
                return None

    def convert_list(self, items: Any, context: str) -> Attribute | None:
        """The property for an attribute that is a list; None if it is a list of functions.

        `context` says where it is, for messages.
        """
        if len(items.func):
            return None
        if len(items.f):
            return floats_attribute(tuple(map(shortest, items.f)))
        if len(items.s):
            return ArrayAttr(map(string, items.s))
        if len(items.type):
            return ArrayAttr(map(type_attribute, items.type))
        if len(items.shape):
            shapes = [dimensions(shape) for shape in items.shape]
            return ArrayAttr([UNKNOWN_RANK if shape is None else integers_attribute(shape) for shape in shapes])
        if len(items.tensor):
            return ArrayAttr([self.tensors.read(item, context) for item in items.tensor])
        return integers_attribute(tuple(map(int, items.b)) if len(items.b) else tuple(items.i))
