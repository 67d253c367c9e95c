"""Writing the index of a TensorFlow checkpoint, for tests."""

from __future__ import annotations

import struct
from collections.abc import Mapping

from moir.files.protobuf.wire import encode_varint
from moir.frontends.tensorflow.checkpoint.checksum import crc32c, masked
from moir.frontends.tensorflow.checkpoint.sorted_table import MAGIC


def block(entries: list[tuple[bytes, bytes]], compression: int = 0) -> bytes:
    """A block with its trailer; keys share the prefixes they have in common."""
    content, last = b"", b""
    for key, value in entries:
        shared = next((i for i, (a, b) in enumerate(zip(last, key, strict=False)) if a != b), min(len(last), len(key)))
        content += encode_varint(shared) + encode_varint(len(key) - shared) + encode_varint(len(value)) + key[shared:] + value
        last = key
    return trailed(content + struct.pack("<II", 0, 1), compression)


def trailed(content: bytes, compression: int = 0) -> bytes:
    """The content of a block with its kind of compression and its checksum."""
    content += bytes([compression])
    return content + struct.pack("<I", masked(crc32c(content)))


def table(blocks: list[bytes], separators: list[bytes] | None = None) -> bytes:
    """A table of finished blocks."""
    data, places = b"", []
    for number, part in enumerate(blocks):
        key = separators[number] if separators else bytes([number])
        places.append((key, encode_varint(len(data)) + encode_varint(len(part) - 5)))
        data += part
    index = block(places)
    handles = encode_varint(0) + encode_varint(0) + encode_varint(len(data)) + encode_varint(len(index) - 5)
    return data + index + handles.ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def index(entries: Mapping[bytes, bytes]) -> bytes:
    """A table of one block."""
    return table([block(sorted(entries.items()))])
