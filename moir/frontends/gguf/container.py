"""The container of GGUF files: metadata and the bytes of tensors, as views of the mapped file.

    "GGUF", version u32, number of tensors u64, number of entries u64
    entries    name, type u32, value; a text is its length u64 and UTF-8, a list the type, number and values of items
    tensors    name, rank u32, sizes u64 (the fastest first), type u32, offset u64
    padding    to a multiple of `general.alignment`, from which the offsets count
    data

A model of several files is `NAME-00001-of-00003.gguf` and its neighbours; the first has the metadata.

Source: docs/gguf.md of ggml, versions 2 and 3.
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from moir import tables
from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from moir.files.reading import map_content
from moir.frontends.gguf.tensor_types import TENSOR_TYPES, TensorType
from moir.records import Record

MAGIC = b"GGUF"
VERSIONS = (2, 3)
LARGEST_RANK = 4
LARGEST_ALIGNMENT = 1 << 20
DEEPEST_LIST = 4
MOST_FILES = 999

SCALARS = tables.numbered("0 B, 1 b, 2 H, 3 h, 4 I, 5 i, 6 f, 7 ?, 10 Q, 11 q, 12 d")
"""The letters of `struct` and numpy of the types of numbers."""

TEXT, LIST = 8, 9
"""The numbers of the other types."""


class StoredTensor(Record):
    """A tensor of a file.

    Args:
        name: its name.
        type: its type.
        shape: its sizes, the slowest first as in numpy.
        content: its bytes, ui8 [rows…, bytes of a row].
        location: the file.
    """

    name: str
    type: TensorType
    shape: tuple[int, ...]
    content: Array
    location: str


class Container:
    """The metadata and the tensors of a model.

    Args:
        path: its file, or the first of its files. Raises ModelFileError if a file is missing, damaged, or no GGUF file.

    Attributes:
        metadata: the values by their names: numbers, texts, lists of texts, and arrays of numbers.
        tensors: the tensors by their names.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.metadata: dict[str, Any] = {}
        self.tensors: dict[str, StoredTensor] = {}
        for number, file in enumerate(self._files()):
            reader = _Reader(file, path)
            metadata = reader.metadata()
            if number == 0:
                self.metadata = metadata
            for tensor in reader.tensors(metadata):
                if tensor.name in self.tensors:
                    raise ModelFileError(f"there are two tensors {tensor.name!r}", location=str(file))
                self.tensors[tensor.name] = tensor

    def _files(self) -> Iterator[Path]:
        """The files of the model. The number of files is known when the first one was read."""
        yield self.path
        count = self.metadata.get("split.count", 1)
        if not isinstance(count, int) or count <= 1:
            return
        parts = re.fullmatch(r"(.*-)00001(-of-\d{5}\.gguf)", self.path.name)
        if parts is None or self.metadata.get("split.no", 0) != 0 or count > MOST_FILES:
            raise ModelFileError(
                f"the model has {count} files, and this is not the first one",
                location=str(self.path),
                hint="name the file …-00001-of-….gguf, and leave the names of all files as they are",
            )
        for number in range(2, count + 1):
            yield self.path.with_name(f"{parts[1]}{number:05d}{parts[2]}")


class _Reader:
    """Reads a file from its beginning."""

    def __init__(self, path: Path, model: Path) -> None:
        self._path = path
        self._content = memoryview(map_content(path, model))
        self._position = 0
        if bytes(self._content[:4]) != MAGIC:
            raise self._error("the file does not begin with GGUF", "is it a GGUF file?")
        self._position = 4
        version = self._number("I")
        if version & 0xFFFF == 0:
            raise self._error("the file is of a machine with big-endian numbers", "convert the model for little-endian machines")
        if version not in VERSIONS:
            raise self._error(
                f"version {version} of GGUF is not known, only 2 and 3", "write the file again with a present version of llama.cpp"
            )
        self._tensor_count = self._count(24)
        self._entry_count = self._count(13)

    def metadata(self) -> dict[str, Any]:
        """The entries of the file."""
        found: dict[str, Any] = {}
        for _ in range(self._entry_count):
            name = self._text()
            if name in found:
                raise self._error(f"there are two entries {name!r}")
            found[name] = self._value(self._number("I"), name)
        return found

    def tensors(self, metadata: dict[str, Any]) -> list[StoredTensor]:
        """The tensors of the file, which follow the metadata."""
        rows = [self._tensor_entry() for _ in range(self._tensor_count)]
        alignment = metadata.get("general.alignment", 32)
        if not isinstance(alignment, int) or not 0 < alignment <= LARGEST_ALIGNMENT:
            raise self._error(f"general.alignment is {alignment!r}, not a small positive number")
        start = -(-self._position // alignment) * alignment
        return [self._tensor(name, shape, kind, start, offset) for name, shape, kind, offset in rows]

    def _tensor_entry(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._text()
        rank = self._number("I")
        if rank > LARGEST_RANK:
            raise self._error(f"the tensor {name!r} has {rank} dimensions; the format has at most {LARGEST_RANK}")
        sizes = [self._number("Q") for _ in range(rank)]
        return name, tuple(reversed(sizes)), self._number("I"), self._number("Q")

    def _tensor(self, name: str, shape: tuple[int, ...], number: int, start: int, offset: int) -> StoredTensor:
        kind = TENSOR_TYPES.get(number)
        if kind is None:
            raise self._error(f"the tensor {name!r} has the type {number}, which is not known", "is the file newer than this moir?")
        columns = shape[-1] if shape else 1
        if columns % kind.weights:
            raise self._error(
                f"the rows of the tensor {name!r} have {columns} elements, not a multiple of {kind.weights} as {kind.name} has"
            )
        width = columns // kind.weights * kind.bytes
        size = math.prod(shape[:-1]) * width
        if start + offset + size > len(self._content):
            raise self._error(
                f"the tensor {name!r} of shape {list(shape)} and type {kind.name} does not fit into the file", "is it complete?"
            )
        content = np.frombuffer(self._content, np.uint8, size, start + offset).reshape(*shape[:-1], width)
        return StoredTensor(name, kind, shape, content, str(self._path))

    def _value(self, kind: int, name: str, depth: int = 0) -> Any:
        if (letter := SCALARS.get(kind)) is not None:
            return self._number(letter)
        if kind == TEXT:
            return self._text()
        if kind != LIST or depth == DEEPEST_LIST:
            raise self._error(f"the entry {name!r} has a value of type {kind}, which the format does not have here")
        inner = self._number("I")
        if (letter := SCALARS.get(inner)) is not None:
            dtype = np.dtype(letter).newbyteorder("<")
            count = self._count(dtype.itemsize)
            return np.frombuffer(self._taken(count * dtype.itemsize), dtype)
        count = self._count(8)
        return [self._value(inner, name, depth + 1) for _ in range(count)]

    def _text(self) -> str:
        start = self._position
        try:
            return str(self._taken(self._number("Q")), "utf-8")
        except UnicodeDecodeError:
            self._position = start
            raise self._error("a text is not UTF-8") from None

    def _count(self, smallest: int) -> int:
        """A number of items of at least `smallest` bytes, which follow."""
        count = self._number("Q")
        if count * smallest > len(self._content) - self._position:
            raise self._error(f"{count} items do not fit into the file", "is it complete?")
        return count

    def _number(self, letter: str) -> Any:
        return struct.unpack(f"<{letter}", self._taken(struct.calcsize(f"<{letter}")))[0]

    def _taken(self, size: int) -> memoryview:
        if size > len(self._content) - self._position:
            raise self._error("the file ends in the metadata", "is it complete?")
        self._position += size
        return self._content[self._position - size : self._position]

    def _error(self, reason: str, hint: str | None = None) -> ModelFileError:
        return ModelFileError(reason, location=f"{self._path}:{self._position}", hint=hint or "the file is damaged: download it again")
