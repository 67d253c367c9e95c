"""Options of custom operators -> attributes.

Most are FlexBuffers: a map of names. Those of `Flex…`, operations of TensorFlow, are a list of the operation's name and
its NodeDef, whose attributes are the attributes. Any other options, often the memory of a structure in C, are the
attribute `custom_options` as bytes.

Source: flexbuffers.h of FlatBuffers 25; delegates/flex of TensorFlow 2.21.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import ui8
from moir.dialects.properties import attribute_of
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.tflite.flatbuffer import ModelFile

FLEX = "Flex"
"""The prefix of the names of custom operators that are TensorFlow's operations."""

LARGEST_LIST = 1 << 16


def custom_attributes(file: ModelFile, operator: Any, kind: str) -> dict[str, Attribute]:
    """The attributes of a custom operator. Raises ModelFileError for options that lie outside of the file."""
    with file.damage(f"the options of a {kind}"):
        raw = _options(file, operator)
        if raw is None:
            return {}
        data = bytes(raw)
        if kind.startswith(FLEX):
            return _node_attributes(file, data, kind)
        return _map(data) or {"custom_options": DataAttr.of(raw, ui8)}


def _options(file: ModelFile, operator: Any) -> Array | None:
    """The bytes of the options; None if there are none."""
    if (offset := operator.LargeCustomOptionsOffset()) > 1:
        return np.frombuffer(file.mapped, np.uint8, operator.LargeCustomOptionsSize(), offset)
    return operator.CustomOptionsAsNumpy() if operator.CustomOptionsLength() else None


def _map(data: bytes) -> dict[str, Attribute]:
    """The entries of a FlexBuffer that is a map; none if it is anything else.

    Entries that are lists within lists, or maps, are left out.
    """
    flexbuffers: Any = import_module("flatbuffers.flexbuffers")
    attributes: dict[str, Attribute] = {}
    try:
        root: Any = flexbuffers.GetRoot(bytearray(data))
        if not root.IsMap:
            return {}
        entries = root.AsMap
        if len(entries) > len(data):
            return {}
        for key, value in zip(entries.Keys, entries.Values, strict=True):
            converted = _entry(value, len(data))
            if converted is not None:
                attributes[key.AsKey] = converted
    except Exception:  # the package raises exceptions of many classes for bytes that are no FlexBuffer
        return {}
    return attributes


def _entry(value: Any, size: int) -> Attribute | None:
    """The attribute of an entry of a FlexBuffer of `size` bytes; None for a list within a list, or a map."""
    if value.IsBool:
        return attribute_of(bool(value.AsBool))
    if value.IsInt:
        return attribute_of(int(value.AsInt))
    if value.IsFloat:
        return attribute_of(shortest(float(value.AsFloat)))
    if value.IsString:
        return attribute_of(str(value.AsString))
    if value.IsTypedVector or value.IsFixedTypedVector or value.IsVector:
        entries = value.AsTypedVector if value.IsTypedVector else value.AsVector
        if len(entries) > min(size, LARGEST_LIST):
            return None
        numbers = [each.AsFloat if each.IsFloat else each.AsInt for each in entries if each.IsNumeric]
        return attribute_of(numbers) if len(numbers) == len(entries) else None
    return None


def _node_attributes(file: ModelFile, data: bytes, kind: str) -> dict[str, Attribute]:
    """The attributes of the NodeDef of an operation of TensorFlow, of the kind `Flex…`, from its options.

    Raises ModelFileError if the options are damaged, or those of another operation.
    """
    # Few models have one.
    from moir.frontends.tensorflow.attributes import AttributeReader
    from moir.frontends.tensorflow.messages import parse
    from moir.frontends.tensorflow.tensors import TensorReader

    flexbuffers: Any = import_module("flatbuffers.flexbuffers")
    problem = file.error(f"the options of a {kind} are not a NodeDef", "the file is damaged")
    try:
        root: Any = flexbuffers.GetRoot(bytearray(data))
        encoded = bytes(root.AsVector[1].AsStringBytes)
    except Exception as error:  # the package raises exceptions of many classes for bytes that are no FlexBuffer
        raise problem from error
    node = parse("NodeDef", encoded, file.path, f"the NodeDef of a {kind}")
    if f"{FLEX}{node.op}" != kind:
        raise problem
    try:
        return AttributeReader(TensorReader(file.path)).properties(list(node.attr.items()), node.op, kind)
    except ModelFileError as error:
        raise file.error(error.reason, error.hint) from error
