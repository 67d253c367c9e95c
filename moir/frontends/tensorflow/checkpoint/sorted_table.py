"""The sorted string table that is the index of a TensorFlow checkpoint.

The file is a sequence of blocks and a footer. A block holds entries in the order of their keys; each key is stored
without the prefix it shares with the previous key. The index block has an entry for every data block, whose value is
the offset and size of the data block.

Source: LevelDB's table format (https://github.com/google/leveldb/blob/main/doc/table_format.md), Snappy's block format
(https://github.com/google/snappy/blob/main/format_description.txt).
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.files.protobuf.wire import varint
from moir.files.reading import map_content
from moir.frontends.tensorflow.checkpoint.checksum import crc32c, masked

MAGIC = 0xDB4775248B80FB57
MAXIMUM_KEY_BYTES = 1 << 14
"""Largest length of a key. Names of variables have some hundred bytes, so a longer key indicates damage."""
_FOOTER_BYTES = 48
_TRAILER_BYTES = 5
_EXPANSION = 64
"""Largest ratio of the total length of keys to the size of the file.

Shared prefixes are stored once, so keys can be longer than the file, but a small file must not fill the memory.
"""
_UNCOMPRESSED, _SNAPPY = 0, 1
_SNAPPY_EXPANSION = 32
"""Largest ratio of the size of a block to its compressed size: in Snappy's format, two bytes can stand for at most 64.
"""


class SortedTable:
    """The entries of a table file.

    Args:
        path: the file.
        model: the model that the file was found through, see `map_content`.

    Raises ModelFileError for a file that is damaged, is not a table of this format, or whose compression is unknown.
    """

    def __init__(self, path: Path, model: Path | None = None) -> None:
        self.path = path
        mapped = map_content(path, model)
        if len(mapped) < _FOOTER_BYTES or struct.unpack_from("<Q", mapped, len(mapped) - 8)[0] != MAGIC:
            hint = "it is truncated, or something else"
            raise ModelFileError(
                "not the index of a TensorFlow checkpoint: its last bytes are not those of a table", location=str(path), hint=hint
            )
        self.mapped: mmap.mmap = mapped
        self.key_bytes = 0
        self.block_bytes = 0
        self.entries: dict[bytes, bytes] = {}
        self._read()

    def error(self, reason: str, offset: int) -> ModelFileError:
        """An error that names the file and an offset in it."""
        return ModelFileError(reason, location=f"{self.path}, offset {offset}", hint="the index of the checkpoint is damaged")

    def _read(self) -> None:
        footer = len(self.mapped) - _FOOTER_BYTES
        _, position = self._handle(self.mapped[footer:], 0, footer)
        index, _ = self._handle(self.mapped[footer:], position, footer)
        last: bytes | None = None
        for _, handle in self._block(*index):
            data, _ = self._handle(handle, 0, index[0])
            for key, value in self._block(*data):
                if last is not None and key <= last:
                    raise self.error("its keys are not in order", data[0])
                self.entries[key] = value
                last = key

    def _handle(self, encoded: bytes, position: int, origin: int) -> tuple[tuple[int, int], int]:
        """The handle of a block, its offset and size in bytes, and the position after the handle.

        Args:
            encoded: the bytes with the handle.
            position: where it begins in them.
            origin: the offset in the file, for messages.

        Raises ModelFileError if it is damaged, or the block is beyond the end of the file.
        """
        buffer = memoryview(encoded)
        try:
            offset, position = varint(buffer, position, len(buffer))
            size, position = varint(buffer, position, len(buffer))
        except ValueError:
            raise self.error("the offset of a block is damaged", origin) from None
        if offset + size + _TRAILER_BYTES > len(self.mapped) - _FOOTER_BYTES:
            raise self.error(f"a block of {size} bytes at {offset} is beyond the end", origin)
        return (offset, size), position

    def _decompressed(self, content: bytes, offset: int) -> bytes:
        """The content of a block that is compressed with Snappy; `offset` is where it begins in the file, for messages.

        The size that it declares is limited by its compressed size. Raises ModelFileError if it is damaged, too large,
        or the package for Snappy is missing.
        """
        try:
            cramjam: Any = import_module("cramjam")
        except ImportError as error:
            hint = "install moir[snappy], or save the checkpoint again with a TensorFlow that does not compress it"
            reason = "the index of the checkpoint is compressed with Snappy, for which a package is missing"
            raise ModelFileError(reason, location=f"{self.path}, offset {offset}", hint=hint) from error
        try:
            size, _ = varint(memoryview(content), 0, len(content))
            if size > _SNAPPY_EXPANSION * len(content):
                raise self.error(f"a compressed block of {len(content)} bytes claims to have {size}", offset)
            content_bytes = bytes(cramjam.snappy.decompress_raw(content))
        except (ValueError, cramjam.DecompressionError):
            raise self.error("a compressed block is damaged", offset) from None
        self.block_bytes += len(content_bytes)
        if self.block_bytes > _EXPANSION * len(self.mapped):
            raise self.error("its blocks take far more memory than the file", offset)
        return content_bytes

    def _block(self, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        """The entries, key and value, of the block at an offset. Raises ModelFileError if it is damaged."""
        content = self.mapped[offset : offset + size]
        compression, checksum = struct.unpack_from("<BI", self.mapped, offset + size)
        if checksum != masked(crc32c(self.mapped[offset : offset + size + 1])):
            raise self.error("the checksum of a block is wrong", offset)
        if compression == _SNAPPY:
            content = self._decompressed(content, offset)
        elif compression != _UNCOMPRESSED:
            hint = "save it again with a TensorFlow that does not compress it"
            reason = f"the index of the checkpoint is compressed by method {compression}"
            raise ModelFileError(reason, location=f"{self.path}, offset {offset}", hint=hint)
        size = len(content)
        restarts = struct.unpack_from("<I", content, size - 4)[0] if size >= 4 else size
        end = size - 4 - 4 * restarts
        if end < 0:
            raise self.error("a block has more restart points than bytes", offset)
        view = memoryview(content)
        position, key = 0, b""
        while position < end:
            start = position
            try:
                shared, position = varint(view, position, end)
                added, position = varint(view, position, end)
                length, position = varint(view, position, end)
            except ValueError:
                raise self.error("an entry of a block is damaged", offset + start) from None
            if shared > len(key) or position + added + length > end or shared + added > MAXIMUM_KEY_BYTES:
                raise self.error("an entry of a block is damaged", offset + start)
            key = key[:shared] + content[position : position + added]
            self.key_bytes += len(key)
            if self.key_bytes > _EXPANSION * len(self.mapped):
                raise self.error("its keys take far more memory than the file", offset + start)
            position += added + length
            yield key, content[position - length : position]
