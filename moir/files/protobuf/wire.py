"""Splitting a model file at the level of protobuf's wire format, so that weights are never loaded.

A file consists of a few megabytes of structure and any amount of tensor data. `split` walks the memory map and returns
a *skeleton*: the same bytes without the large payloads of tensors and without long documentation. The skeleton is
parsed into ordinary messages. A tensor whose payload was omitted has a mark with the number of its `Payload` instead.

Source: https://protobuf.dev/programming-guides/encoding.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Mapping
from pathlib import Path

from moir.errors import ModelFileError
from moir.support.records import Record

LARGE = 1024
"""Largest size in bytes of messages and payloads that stay in the skeleton unchanged."""
MAXIMUM_DEPTH = 256
"""Largest nesting of messages that is split; every level of sub-graphs takes three."""
_MAXIMUM_TENSOR_FIELDS = 256
_PAYLOAD_MARK_FIELD = 536870911

VARINT, FIXED64, LENGTH, FIXED32 = 0, 1, 2, 5


class Payload(Record):
    """The position of a tensor's data in the model file.

    Args:
        field: number of its field in TensorProto.
        offset: offset in bytes.
        size: size in bytes.
    """

    field: int
    offset: int
    size: int


class WireSchema:
    """The treatment of the large fields of a message.

    Args:
        children: fields that are messages to split, with their schemas.
        dropped: fields to leave out.
        payloads: fields to omit and mark; a message with such fields is a tensor.
        whole: a tensor with one of these fields stays unchanged.
    """

    def __init__(
        self,
        children: dict[int, WireSchema] | None = None,
        dropped: frozenset[int] = frozenset(),
        payloads: frozenset[int] = frozenset(),
        whole: frozenset[int] = frozenset(),
    ) -> None:
        self.children = {} if children is None else children
        self.dropped = dropped
        self.payloads = payloads
        self.whole = whole


class FileFormat(Record):
    """The format of the model files of a framework.

    Args:
        name: designation of a model of the framework in messages, with its article.
        message: name of the outermost message.
        layout: schema of the outermost message.
        wire_types: wire types of the fields of the outermost message; all other fields are unknown.
        field_names: names of these fields, for messages.
        mark: builds the field that marks an omitted payload, from a key and the number of the payload.
    """

    name: str
    message: str
    layout: WireSchema
    wire_types: Mapping[int, int]
    field_names: Mapping[int, str]
    mark: Callable[[str, int], bytes]


class Skeleton(Record):
    """A model without its large payloads.

    Args:
        data: the bytes of the outermost message.
        payloads: the omitted payloads.
        key: key in the marks of tensors with an omitted payload; random, so that no file can contain it.
    """

    data: bytes
    payloads: list[Payload]
    key: str


def varint(buffer: memoryview | mmap.mmap | bytes, position: int, end: int) -> tuple[int, int]:
    """Decode a variable-length integer; returns it and the position after it.

    Raises ValueError if it does not end before `end` or has more than 10 bytes.
    """
    result = shift = 0
    while position < end and shift < 70:
        byte = buffer[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
    raise ValueError("truncated" if position >= end else "overlong")


def encode_varint(value: int) -> bytes:
    """Encode a non-negative integer with variable length."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def length_field(field_number: int, content: bytes) -> bytes:
    """Encode a field with its number, wire type LEN and the content."""
    return encode_varint(field_number << 3 | LENGTH) + encode_varint(len(content)) + content


def payload_mark(key: str, index: int) -> bytes:
    """The field `payload_mark` of a message whose payload is omitted: the key and the number of the payload.

    It has the largest field number that protobuf allows, which no framework uses.
    """
    return length_field(_PAYLOAD_MARK_FIELD, f"{key}:{index}".encode())


class Splitter:
    """Builds the skeleton of one file.

    Args:
        path: the file, for messages.
        buffer: its bytes.
        format: the format of the file.
    """

    def __init__(self, path: Path, buffer: memoryview, format: FileFormat) -> None:
        self.path = path
        self.format = format
        self.buffer = buffer
        self.payloads: list[Payload] = []
        self.key = os.urandom(8).hex()
        self.chunks: list[memoryview | bytes] = []

    def error(self, reason: str, offset: int) -> ModelFileError:
        """An error that names the file and an offset in it."""
        return ModelFileError(reason, location=f"{self.path}, offset {offset}", hint=f"the file is damaged or not {self.format.name}")

    def tag(self, position: int, end: int) -> tuple[int, int, int]:
        """Decode the tag of the field at a position; returns field number, wire type and position of the content."""
        try:
            tag, content = varint(self.buffer, position, end)
        except ValueError as error:
            raise self.error(f"{error} field tag", position) from None
        if not tag >> 3 or tag >> 32:
            raise self.error("a field has an impossible number", position)
        return tag >> 3, tag & 7, content

    def content(self, position: int, wire: int, start: int, end: int) -> tuple[int, int]:
        """The start and the end of the content of a field.

        `position` is where the field begins, `start` where its tag ends, `wire` its wire type; nothing of it is beyond
        `end`.
        """
        if wire == LENGTH:
            try:
                length, start = varint(self.buffer, start, end)
            except ValueError as error:
                raise self.error(f"{error} field length", position) from None
            if start + length > end:
                within = "the file" if end == len(self.buffer) else "its message"
                raise self.error(f"a field of {length} bytes is truncated: {within} ends after {end - start} of them", position)
            return start, start + length
        if wire == VARINT:
            try:
                return start, varint(self.buffer, start, end)[1]
            except ValueError as error:
                raise self.error(f"{error} integer", position) from None
        width = {FIXED32: 4, FIXED64: 8}.get(wire)
        if width is None:
            raise self.error(f"a field has wire type {wire}, which models do not use", position)
        if start + width > end:
            raise self.error("a truncated number", position)
        return start, start + width

    def split(self) -> Skeleton:
        """Split the file; returns the skeleton. Raises ModelFileError for a damaged or truncated file."""
        self.check_top_level()
        self.rewrite(self.format.layout, 0, len(self.buffer), 0)
        return Skeleton(b"".join(self.chunks), self.payloads, self.key)

    def check_top_level(self) -> None:
        """Check that the fields of the outermost message are those of the format."""
        position, end = 0, len(self.buffer)
        while position < end:
            number, wire, start = self.tag(position, end)
            if wire != self.format.wire_types.get(number, wire):
                name = self.format.field_names.get(number, f"field {number}")
                raise self.error(f"not {self.format.name}: {name} of {self.format.message} is of another kind", position)
            position = self.content(position, wire, start, end)[1]

    def rewrite(self, layout: WireSchema, position: int, end: int, depth: int) -> int:
        """Append the skeleton of the message between two offsets to the chunks; returns its size.

        Args:
            layout: the schema of the message.
            position, end: the offsets.
            depth: the number of messages around it, which is limited.
        """
        if depth > MAXIMUM_DEPTH:
            raise self.error(f"messages are nested more than {MAXIMUM_DEPTH} deep", position)
        if layout.payloads:
            return self.rewrite_tensor(layout, position, end)
        buffer, chunks, children = self.buffer, self.chunks, layout.children
        size = 0
        run = position
        while position < end:
            tag = buffer[position]
            # Nearly every field has a one-byte tag and a length of one or two bytes.
            if tag < 0x80 and tag & 7 == LENGTH and position + 2 < end and tag >> 3:
                start = position + 2
                length = buffer[position + 1]
                if length >= 0x80:
                    if (high := buffer[start]) < 0x80:
                        length += (high - 1) << 7
                        start += 1
                    else:
                        start, stop = self.content(position, LENGTH, position + 1, end)
                        length = stop - start
                stop = start + length
                if stop > end:
                    start, stop = self.content(position, LENGTH, position + 1, end)
                number = tag >> 3
            else:
                number, wire, start = self.tag(position, end)
                start, stop = self.content(position, wire, start, end)
                if wire != LENGTH:
                    position = stop
                    continue
            if stop - start > LARGE and (number in children or number in layout.dropped):
                chunks.append(buffer[run:position])
                size += position - run
                run = stop
                if number in children:
                    prefix = len(chunks)
                    chunks.append(b"")
                    inner = self.rewrite(children[number], start, stop, depth + 1)
                    chunks[prefix] = encode_varint(number << 3 | LENGTH) + encode_varint(inner)
                    size += len(chunks[prefix]) + inner
            position = stop
        chunks.append(buffer[run:end])
        return size + end - run

    def rewrite_tensor(self, layout: WireSchema, position: int, end: int) -> int:
        """Append the skeleton of a TensorProto between two offsets, unchanged if it has several payloads or an unusual
        form.

        `layout` is its schema. Returns the size of what was appended.
        """
        origin = position
        payload: tuple[int, int, int, int] | None = None
        dropped: list[tuple[int, int]] = []
        payload_fields = count = 0
        while position < end:
            number, wire, start = self.tag(position, end)
            start, stop = self.content(position, wire, start, end)
            count += 1
            payload_fields += number in layout.payloads
            if number in layout.whole or payload_fields > 1 or count > _MAXIMUM_TENSOR_FIELDS:
                self.chunks.append(self.buffer[origin:end])
                return end - origin
            if stop - start > LARGE and wire == LENGTH:
                if number in layout.payloads:
                    payload = (number, start, position, stop)
                    dropped.append((position, stop))
                elif number in layout.dropped:
                    dropped.append((position, stop))
            position = stop
        size = 0
        for position, stop in [*dropped, (end, end)]:
            self.chunks.append(self.buffer[origin:position])
            size += position - origin
            origin = stop
        if payload is not None:
            number, start, _, stop = payload
            self.payloads.append(Payload(number, start, stop - start))
            entry = self.format.mark(self.key, len(self.payloads) - 1)
            self.chunks.append(entry)
            size += len(entry)
        return size
