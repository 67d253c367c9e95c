"""A message of protobuf as a tree of fields, without its schema: what may be a message is read as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

LARGEST_SPLIT = 1 << 16
"""Longer fields are data."""

FIXED = {1: 8, 5: 4}
"""The number of bytes of the wire types of fixed size."""


@dataclass(frozen=True)
class Field:
    """A field.

    Args:
        number: its number.
        wire: its wire type; with type 2 an integer is a length without content.
        value: a number, bytes, or the fields of a message.
    """

    number: int
    wire: int
    value: int | bytes | list[Field]


class NoMessage(Exception):
    """The bytes are not a message."""


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(content):
            break
        value |= (content[position] & 0x7F) << shift
        position += 1
        if content[position - 1] < 0x80:
            return value, position
    raise NoMessage


def _read(content: bytes, depth: int) -> Iterator[Field]:
    position = 0
    while position < len(content):
        key, position = _varint(content, position)
        number, wire = key >> 3, key & 7
        if not 0 < number < 1 << 19:
            raise NoMessage
        if wire == 0:
            value, position = _varint(content, position)
            yield Field(number, wire, value)
        elif wire in FIXED or wire == 2:
            size, position = (FIXED[wire], position) if wire in FIXED else _varint(content, position)
            if position + size > len(content):
                raise NoMessage
            part, position = content[position : position + size], position + size
            yield Field(number, wire, int.from_bytes(part, "little") if wire in FIXED else _submessage(part, depth))
        else:
            raise NoMessage


def _submessage(content: bytes, depth: int) -> bytes | list[Field]:
    if depth == 0 or not 1 < len(content) <= LARGEST_SPLIT:
        return content
    try:
        return list(_read(content, depth - 1))
    except NoMessage:
        return content


def fields(content: bytes) -> list[Field]:
    """The fields of a message; empty if the bytes are not a message."""
    try:
        return list(_read(content, 12))
    except NoMessage:
        return []


def places(message: list[Field]) -> list[tuple[list[Field], int]]:
    """All fields of a message and of the messages in it, each as a list and its index there."""
    results: list[tuple[list[Field], int]] = []
    pending = [message]
    while pending:
        siblings = pending.pop()
        results += [(siblings, index) for index in range(len(siblings))]
        pending += [field.value for field in siblings if isinstance(field.value, list)]
    return results


def _number(value: int) -> bytes:
    value &= (1 << 64) - 1
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*parts, value])


def encoded(message: list[Field]) -> bytes:
    """The bytes of a message."""
    parts: list[bytes] = []
    for field in message:
        value = encoded(field.value) if isinstance(field.value, list) else field.value
        parts.append(_number(field.number << 3 | field.wire))
        if isinstance(value, bytes):
            parts += (_number(len(value)), value)
        elif field.wire in FIXED:
            size = FIXED[field.wire]
            parts.append((value & ((1 << 8 * size) - 1)).to_bytes(size, "little"))
        else:
            parts.append(_number(value))
    return b"".join(parts)
