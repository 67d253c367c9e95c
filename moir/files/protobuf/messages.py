"""Protobuf messages read from their binary encoding, without protobuf's package.

The import of that package takes as many instructions as the import of a thousand nodes. Its text format is another
matter, see `moir.files.protobuf.message_table`; the messages of both have the same attributes.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from moir.files.protobuf.varints import decode_varints
from moir.files.protobuf.wire import FIXED32, FIXED64, LENGTH, VARINT, varint

MAXIMUM_DEPTH = 256
"""The nesting of messages that protobuf's parsers allow."""

_SHORT = 64
"""Size in bytes from which on the integers of a packed list are decoded together, with numpy."""


class ScalarType:
    """A type of fields that are numbers.

    Args:
        wire: its wire type.
        default: the value of a field that is not in a message.
        of_encoded: decodes a value from the unsigned integer that encodes it (VARINT), or from its bytes.
        array: the numpy type of many values; those with variable length are 64-bit integers first.
    """

    __slots__ = ("array", "default", "of_encoded", "wire")

    def __init__(self, wire: int, default: object, of_encoded: Callable[[Any], object], array: str) -> None:
        self.wire = wire
        self.default = default
        self.of_encoded = of_encoded
        self.array = np.dtype(array)


def _unsigned(encoded: int) -> int:
    # Ten bytes have room for more than 64 bits.
    return encoded & 0xFFFFFFFFFFFFFFFF


def _signed(encoded: int) -> int:
    return (encoded + (1 << 63) & (1 << 64) - 1) - (1 << 63)


def _signed_32(encoded: int) -> int:
    return (encoded + (1 << 31) & (1 << 32) - 1) - (1 << 31)


def _unpacked(format: str) -> Callable[[Any], object]:
    return lambda encoded: struct.unpack(format, encoded)[0]


SCALAR_TYPES: Mapping[str, ScalarType] = {
    "double": ScalarType(FIXED64, 0.0, _unpacked("<d"), "<f8"),
    "float": ScalarType(FIXED32, 0.0, _unpacked("<f"), "<f4"),
    "fixed32": ScalarType(FIXED32, 0, _unpacked("<I"), "<u4"),
    "int64": ScalarType(VARINT, 0, _signed, "<i8"),
    "uint64": ScalarType(VARINT, 0, _unsigned, "<u8"),
    "int32": ScalarType(VARINT, 0, _signed_32, "<i4"),
    "uint32": ScalarType(VARINT, 0, lambda encoded: encoded & 0xFFFFFFFF, "<u4"),
    "bool": ScalarType(VARINT, False, bool, "?"),
}
ENUM = SCALAR_TYPES["int32"]
"""The type of fields that are values of an enumeration."""


class Field:
    """A field of a message.

    Args:
        name: its name.
        scalar: its type if it is a number, else None.
        message: gives the class of its messages, at the first use; None if it is not a message.
        text: whether it is a string; a field that is neither number, message nor string is bytes.
        repeated: whether it is a list.
        is_map: whether its messages are pairs of a key and a value, of a mapping.
        oneof: the group of fields of which a message has one; empty if it is in none.
    """

    def __init__(
        self,
        name: str,
        scalar: ScalarType | None = None,
        message: Callable[[], type[Message]] | None = None,
        *,
        text: bool = False,
        repeated: bool = False,
        is_map: bool = False,
        oneof: str = "",
    ) -> None:
        self.name = name
        self.scalar = scalar
        self._message = message
        self.text = text
        self.repeated = repeated
        self.is_map = is_map
        self.oneof = oneof and oneof_attribute(oneof)
        self.is_plain = not repeated and not oneof

    @cached_property
    def kind(self) -> type[Message] | None:
        """The class of the messages in the field; None if it does not contain messages."""
        return None if self._message is None else self._message()

    def tags(self, field_number: int) -> list[int]:
        """The tags (field number and wire type) with which the field may begin, if its number is `field_number`.

        A repeated numeric field has two tags: packed and unpacked.
        """
        if self.scalar is None:
            return [field_number << 3 | LENGTH]
        return [field_number << 3 | self.scalar.wire, *([field_number << 3 | LENGTH] if self.repeated else [])]

    def default(self) -> object:
        """The value of the field in a message that does not have it; None if the field is itself a message."""
        if self._message is not None:
            return () if self.repeated and not self.is_map else None
        if self.repeated:
            return ()
        return self.scalar.default if self.scalar is not None else "" if self.text else b""


def oneof_attribute(group: str) -> str:
    """The name of the attribute of a message that says which field of a oneof it has. No field can have this name."""
    return f"oneof {group}"


class MapField(dict[str, Any]):
    """The values of a map field by key. An absent key has an empty message.

    Args:
        pair: the class of the pairs of a key and a value.
    """

    def __init__(self, pair: type[Message]) -> None:
        super().__init__()
        self._pair = pair

    def __missing__(self, key: str) -> Any:
        return self._pair().value


class Message:
    """The base class of messages. Fields are attributes, with a default where the message does not have the field."""

    FIELDS: ClassVar[Mapping[str, Field]] = {}
    """The fields by name."""

    TAGS: ClassVar[Mapping[int, Field]] = {}
    """Tag (field number and wire type) -> field. A field with another wire type counts as unknown."""

    STRICT: ClassVar[bool] = True
    """Whether a string that is not UTF-8 is an error; otherwise it is returned as bytes."""

    @classmethod
    def of(cls, name: str, fields: Mapping[int, Field], *, strict: bool) -> type[Message]:
        """Make a class of messages from its fields, by field number.

        `strict` says that a string which is not in UTF-8 is an error; else it is bytes.
        """
        members: dict[str, Any] = {each.name: default for each in fields.values() if (default := each.default()) is not None}
        members["FIELDS"] = {each.name: each for each in fields.values()}
        members["TAGS"] = {tag: each for number, each in fields.items() for tag in each.tags(number)}
        return type(name, (cls,), members | {"STRICT": strict})

    def __getattr__(self, name: str) -> Any:
        """An empty message or mapping, for a field that the message does not have."""
        field = self.FIELDS.get(name)
        if field is None or field.kind is None:
            raise AttributeError(name)
        return MapField(field.kind) if field.is_map else field.kind()

    def HasField(self, name: str) -> bool:
        """Whether the message has a value for a field that is not a list."""
        return name in vars(self)

    def WhichOneof(self, group: str) -> str | None:
        """The name of the field of a oneof that the message has; None if it has none."""
        return vars(self).get(oneof_attribute(group))

    @classmethod
    def FromString(cls, encoded: bytes) -> Self:
        """Read a message. Raises ValueError for bytes that are not the encoding of one."""
        message = cls()
        try:
            message._read(encoded, 0, len(encoded), 0)
        except (IndexError, struct.error) as error:
            raise ValueError("truncated") from error
        return message

    def _read(self, encoded: bytes, position: int, end: int, depth: int) -> None:
        """Add the fields between two offsets of `encoded` to the message.

        Reading past `end` is noticed at the end of a field, or as an IndexError at the end of the file. Raises
        ValueError for invalid bytes, and if `depth`, the number of messages around this one, is too large.
        """
        if depth > MAXIMUM_DEPTH:
            raise ValueError("nested too deeply")
        values, tags = vars(self), self.TAGS
        value: Any
        while position < end:
            tag = encoded[position]
            position += 1
            if tag > 0x7F:
                tag, position = varint(encoded, position - 1, end)
            wire = tag & 7
            if wire == LENGTH:
                length = encoded[position]
                start = position + 1
                # Nearly every length has one or two bytes.
                if length > 0x7F:
                    if (high := encoded[start]) < 0x80:
                        length += (high - 1) << 7
                        start += 1
                    else:
                        length, start = varint(encoded, position, end)
                position = start + length
            elif wire == VARINT:
                start = position
                position += 1
                if encoded[start] > 0x7F:
                    position = varint(encoded, start, end)[1]
            elif wire in (FIXED32, FIXED64):
                start = position
                position += 4 if wire == FIXED32 else 8
            else:
                raise ValueError(f"wire type {wire}")
            if position > end:
                raise ValueError("a field that is truncated")
            field = tags.get(tag)
            if field is None:
                if tag < 8:
                    raise ValueError("a field without a number")
                continue
            name = field.name
            if field.text:
                value = encoded[start:position]
                try:
                    value = value.decode()
                except UnicodeDecodeError:
                    if self.STRICT:
                        raise
                if field.is_plain:
                    values[name] = value
                    continue
            elif (kind := field.kind) is not None:
                # Two occurrences of a message field are merged.
                value = values[name] if name in values and not field.repeated else kind()
                value._read(encoded, start, position, depth + 1)
                if field.is_map:
                    values.setdefault(name, MapField(kind))[value.key] = value.value
                    continue
            elif field.scalar is None:
                value = encoded[start:position]
            elif wire == LENGTH:
                values.setdefault(name, []).extend(_packed(field.scalar, encoded[start:position]))
                continue
            elif wire == VARINT:
                value = field.scalar.of_encoded(encoded[start] if position == start + 1 else varint(encoded, start, end)[0])
            else:
                value = field.scalar.of_encoded(encoded[start:position])
            if not field.repeated:
                values[name] = value
                if field.oneof:
                    chosen = values.get(field.oneof, name)
                    if chosen != name:
                        del values[chosen]
                    values[field.oneof] = name
            elif name in values:
                values[name].append(value)
            else:
                values[name] = [value]


def _packed(scalar: ScalarType, encoded: bytes) -> list[Any]:
    """The numbers of a packed list. Raises ValueError if the bytes end within a number."""
    if scalar.wire != VARINT:
        return np.frombuffer(encoded, scalar.array).tolist()
    if len(encoded) > _SHORT:
        wide = decode_varints(np.frombuffer(encoded, np.uint8), len(encoded))
        return wide.astype(scalar.array).tolist()
    numbers: list[Any] = []
    position = 0
    while position < len(encoded):
        number, position = varint(encoded, position, len(encoded))
        numbers.append(scalar.of_encoded(number))
    return numbers
