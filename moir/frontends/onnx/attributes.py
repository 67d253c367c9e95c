"""AttributeProto -> property.

The property of a float attribute, which has 32 bits, is the shortest decimal number that reads back as that float: 0.1,
not 0.10000000149011612. Source: onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.properties import float_attribute, floats_attribute, integer_attribute, integers_attribute, string_attribute
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.onnx.messages import is_text
from moir.frontends.onnx.tensors import TensorReader
from moir.frontends.onnx.types import type_attribute

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

Bindings: TypeAlias = "dict[str, onnx_ml_pb2.AttributeProto]"
"""The attributes of a function call by name, with defaults for those that the call omits."""

GRAPH, GRAPHS = 5, 10
"""Types of attributes that are graphs."""


def string(value: bytes) -> Attribute:
    """A string as a property; bytes that are not UTF-8 become a 1-D tensor of u8."""
    try:
        return string_attribute(value.decode())
    except UnicodeDecodeError:
        return DataAttr.of(np.frombuffer(value, np.uint8), element_types.ui8)


class AttributeReader:
    """Converts the attributes of nodes to properties.

    Args:
        tensors: reads the attributes that are tensors.
    """

    def __init__(self, tensors: TensorReader) -> None:
        self.tensors = tensors
        self._converters: dict[int, Callable[[Any, str], Attribute]] = {
            1: lambda attribute, _: float_attribute(shortest(attribute.f)),
            2: lambda attribute, _: integer_attribute(attribute.i),
            3: lambda attribute, _: string(attribute.s),
            4: lambda attribute, place: tensors.read(attribute.t, place),
            6: lambda attribute, _: floats_attribute(tuple(map(shortest, attribute.floats))),
            7: lambda attribute, _: integers_attribute(tuple(attribute.ints)),
            8: lambda attribute, _: ArrayAttr(map(string, attribute.strings)),
            9: lambda attribute, place: ArrayAttr([tensors.read(item, place) for item in attribute.tensors]),
            11: lambda attribute, place: tensors.read_sparse(attribute.sparse_tensor, place),
            12: lambda attribute, place: ArrayAttr([tensors.read_sparse(item, place) for item in attribute.sparse_tensors]),
            13: lambda attribute, _: type_attribute(attribute.tp),
            14: lambda attribute, _: ArrayAttr(map(type_attribute, attribute.type_protos)),
        }
        self._converted: dict[int, tuple[Any, Attribute]] = {}

    def convert(self, attribute: onnx_ml_pb2.AttributeProto, context: str) -> Attribute:
        """The property for one attribute, which is neither a graph nor a reference.

        `context` says where it is, for messages.
        """
        converter = self._converters.get(attribute.type or untold_type(attribute))
        if converter is None:
            raise ModelFileError(f"{context} has the unknown type {attribute.type}", location=str(self.tensors.path))
        return converter(attribute, context)

    def convert_once(self, attribute: onnx_ml_pb2.AttributeProto, context: str) -> Attribute:
        """The property for an attribute of a node in a function, as in `convert`, converted once for all calls of the
        function.
        """
        if id(attribute) not in self._converted:
            self._converted[id(attribute)] = attribute, self.convert(attribute, context)
        return self._converted[id(attribute)][1]

    def properties(
        self, attributes: Iterable[onnx_ml_pb2.AttributeProto], bindings: Bindings | None, kind: str, node: str
    ) -> dict[str, Attribute]:
        """The properties of a node.

        Args:
            attributes: its attributes without the graphs.
            bindings: the values of references to attributes of the enclosing function; an attribute whose reference has
                no value is left out. None outside functions, where references are not allowed.
            kind: kind of the node, for messages.
            node: its name, for messages.

        Raises ModelFileError for an attribute that occurs twice or has an unknown type.
        """

        def error(reason: str) -> ModelFileError:
            return ModelFileError(reason, operation=kind, node=node, location=str(self.tensors.path))

        properties: dict[str, Attribute] = {}
        for attribute in attributes:
            name = attribute.name
            if not is_text(name):
                raise error("the name of an attribute is not in UTF-8")
            if name in properties:
                raise error(f"attribute {name!r} is there twice")
            if attribute.ref_attr_name:
                if bindings is None:
                    raise error(f"attribute {name!r} refers to an attribute of a function, but the node is in no function")
                bound = bindings.get(attribute.ref_attr_name)
                if bound is None:
                    continue
                attribute = bound
            convert = self.convert if bindings is None else self.convert_once
            properties[name] = convert(attribute, f"{name} of {kind} {node!r}")
        return properties


def untold_type(attribute: onnx_ml_pb2.AttributeProto) -> int:
    """The AttributeType of an attribute that does not declare it, as in old files, by the field that has a value; 0 if
    none has.
    """
    for field, type_ in (("f", 1), ("i", 2), ("s", 3), ("t", 4), ("g", 5), ("sparse_tensor", 11), ("tp", 13)):
        if attribute.HasField(field):
            return type_
    for field, type_ in (("floats", 6), ("ints", 7), ("strings", 8), ("tensors", 9), ("graphs", 10)):
        if len(getattr(attribute, field)):
            return type_
    return 0
