"""The content of a GGUF file: metadata, and tensors as views of the mapped file.

    "GGUF", u32 version, u64 number of tensors, u64 number of keys
    keys        name, u32 type, value
    tensors     name, u32 number of dimensions, u64 sizes (columns first), u32 type, u64 offset
    the rest    the tensors, one after another; each begins at the next multiple of `general.alignment`, and offsets are
                from the first one

A model may be split into several files, `NAME-00001-of-00003.gguf`, the first of which has the metadata.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from moir.files.reading import map_content
from moir.frontends.gguf.block_types import REFUSED, TYPES, BlockType
from moir.frontends.gguf.cursor import Cursor

MAGIC, VERSIONS = b"GGUF", (2, 3)

ALIGNMENT, LARGEST_ALIGNMENT = 32, 1 << 16

MAXIMUM_RANK = 4

LARGEST_COUNT = 1 << 17
"""The largest number of tensors or keys; each of them takes much more memory than space in the file."""

SMALLEST_KEY, SMALLEST_TENSOR = 13, 24
"""The sizes in bytes of the shortest possible key and tensor entries."""

_SHARD = re.compile(r"(.*)-(\d{5})-of-(\d{5})\.gguf")


class StoredTensor:
    """A tensor of a file.

    Args:
        name: its name.
        type: how its numbers are stored.
        shape: its shape.
        rows: its bytes as u8 [rows …, bytes of a row], a view of the file.
    """

    __slots__ = ("name", "rows", "shape", "type")

    def __init__(self, name: str, type: BlockType, shape: tuple[int, ...], rows: Array) -> None:
        self.name = name
        self.type = type
        self.shape = shape
        self.rows = rows


class Container:
    """The content of a file, or of all files of a model that is split.

    Args:
        path: the file; the first one of a model that is split.

    Raises ModelFileError for a file that is damaged, of another version, or has tensors of a type that is not known.
    """

    def __init__(self, path: Path) -> None:
        self.location = str(path)
        self.metadata: dict[str, Any] = {}
        self.tensors: dict[str, StoredTensor] = {}
        self.metadata = self._read(path)
        for shard in self._further_files(path):
            self._read(shard, path)

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the content of the file."""
        return ModelFileError(reason, location=self.location, hint=hint)

    def _read(self, path: Path, model: Path | None = None) -> dict[str, Any]:
        """Add the tensors of a file to `tensors`, and return its metadata. `model` is the first file of a model that is
        split.
        """
        cursor = Cursor(memoryview(map_content(path, model)), str(path))
        tensors, keys = _header(cursor)
        metadata: dict[str, Any] = {}
        for _ in range(keys):
            name = cursor.name()
            if name in metadata:
                raise cursor.error(f"the key {name!r} is there twice")
            metadata[name] = cursor.value(cursor.unsigned(4))
        entries = [_entry(cursor) for _ in range(tensors)]
        alignment = _alignment(cursor, metadata)
        start = _aligned(cursor.position, alignment)
        content = cursor.data[min(start, len(cursor.data)) :]
        end = 0
        for name, shape, number, offset in entries:
            if name in self.tensors:
                raise cursor.error(f"the tensor {name!r} is there twice")
            tensor = _tensor(cursor, content, name, shape, number, offset)
            if offset != end:
                raise cursor.error(f"the tensor {name!r} is at byte {offset} of the tensors, where {end} is due")
            end = _aligned(offset + tensor.rows.nbytes, alignment)
            self.tensors[name] = tensor
        if len(content) - end >= alignment:
            raise cursor.error(f"the last {len(content) - end} bytes of the file belong to no tensor")
        return metadata

    def _further_files(self, path: Path) -> list[Path]:
        """The other files of a model that is split; empty if it is not."""
        count = self.metadata.get("split.count", 0)
        if not isinstance(count, int) or count < 2:
            return []
        match = _SHARD.fullmatch(path.name)
        if match is None or int(match[3]) != count:
            hint = f"keep the name that it had, NAME-00001-of-{count:05}.gguf"
            raise ModelFileError(f"the model is split into {count} files, whose names do not say so", location=str(path), hint=hint)
        names = [f"{match[1]}-{number:05}-of-{count:05}.gguf" for number in range(1, count + 1)]
        if names[0] != path.name:
            raise ModelFileError("this is not the first file of a model that is split", location=str(path), hint=f"give {names[0]}")
        missing = [name for name in names if not path.with_name(name).is_file()]
        if missing:
            hint = "all files of the model are needed in one folder"
            raise ModelFileError(f"the file {missing[0]} is missing", location=str(path), hint=hint)
        return [path.with_name(name) for name in names[1:]]


def _header(cursor: Cursor) -> tuple[int, int]:
    """The number of tensors and the number of keys, which follow magic and version of the file."""
    if bytes(cursor.take(4)) != MAGIC:
        raise cursor.error("this is no GGUF file")
    version = cursor.unsigned(4)
    if version not in VERSIONS:
        is_swapped = int.from_bytes(version.to_bytes(4, "big"), "little") in VERSIONS
        reason = "the file is for machines with big-endian numbers" if is_swapped else f"GGUF of the version {version} is not read"
        raise cursor.error(reason, f"make the file of the version {VERSIONS[-1]} with the present tools of llama.cpp")
    tensors = cursor.count(SMALLEST_TENSOR, LARGEST_COUNT, "tensors")
    return tensors, cursor.count(SMALLEST_KEY, LARGEST_COUNT, "keys")


def _aligned(position: int, alignment: int) -> int:
    """The next multiple of `alignment`."""
    return -(-position // alignment) * alignment


def _alignment(cursor: Cursor, metadata: Mapping[str, Any]) -> int:
    alignment = metadata.get("general.alignment", ALIGNMENT)
    if not isinstance(alignment, int) or not 0 < alignment <= LARGEST_ALIGNMENT or alignment & (alignment - 1):
        raise cursor.error(f"an alignment of {alignment!r} is not possible")
    return alignment


def _entry(cursor: Cursor) -> tuple[str, tuple[int, ...], int, int]:
    """The next entry of the tensor table: name, shape, type id and offset. Raises ModelFileError for an impossible
    shape.
    """
    name = cursor.name()
    rank = cursor.unsigned(4)
    if not 0 < rank <= MAXIMUM_RANK:
        raise cursor.error(f"the tensor {name!r} has {rank} dimensions")
    shape = tuple([cursor.unsigned(8) for _ in range(rank)])[::-1]
    if 0 in shape:
        raise cursor.error(f"the tensor {name!r} of shape {list(shape)} is empty")
    return name, shape, cursor.unsigned(4), cursor.unsigned(8)


def _tensor(cursor: Cursor, content: memoryview, name: str, shape: tuple[int, ...], number: int, offset: int) -> StoredTensor:
    """A tensor as a view of the bytes `content` at `offset`; `number` is its type id.

    Raises ModelFileError if it is not in the file, or its type is not supported.
    """
    element_type = TYPES.get(number)
    if element_type is None:
        kind = REFUSED.get(number, f"number {number}")
        raise cursor.error(f"the tensor {name!r} is of the type {kind}, which is not read", f"those that are: {', '.join(NAMES)}")
    columns = shape[-1]
    if columns % element_type.count:
        raise cursor.error(f"the rows of the tensor {name!r}, of {columns} numbers, are not whole blocks of {element_type.count}")
    width = columns // element_type.count * element_type.size
    size = width * math.prod(shape[:-1])
    if offset + size > len(content):
        raise cursor.error(f"the tensor {name!r} of shape {list(shape)} is not in the file; is it complete?")
    return StoredTensor(name, element_type, shape, np.frombuffer(content, np.uint8, size, offset).reshape(*shape[:-1], width))


NAMES = tuple(each.name for each in TYPES.values())
"""The names of the types that are read."""
