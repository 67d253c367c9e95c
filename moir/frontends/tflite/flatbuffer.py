"""The file of a model, a flatbuffer, over its memory map.

The classes of the package `tflite`, which are generated from the schema, read fields without checking them. A number
outside of the file is an error of `struct` or numpy, and a list is no longer than the file, so time and memory stay in
proportion to its size. An index is checked where it is used.

Source: the schema of TensorFlow Lite, version 3.
"""

from __future__ import annotations

import mmap
import re
import struct
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.errors import ModelFileError
from moir.files.reading import check_beginning, map_content

IDENTIFIER = b"TFL3"
SCHEMA_VERSION = 3

BUILTIN_CODE_SLOT = 10
"""The slot of the field `builtin_code` in the table of an operator code."""

FIRST_WITH_RANKS = (2, 10)
"""The first version (major, minor) of TensorFlow whose converter stores for each tensor whether its rank is known."""

LARGEST_METADATA = 4096
_VERSION = re.compile(rb"(?<![\d.])(\d{1,3})\.(\d{1,3})\.\d")

OWN_KINDS = frozenset(("Flex", "dequantize", "fake_quantize", "quantize", "round_for_comparison"))
"""Kinds of the dialect that are not operators of a file."""

_DAMAGES = (struct.error, ValueError, TypeError, IndexError, OverflowError)
"""The exceptions that the generated classes raise for offsets outside of the file."""


class ModelFile:
    """The tables of a model file.

    Args:
        path: the file.
        content: the part of its memory map that is the model; None for the whole file.

    Raises ModelFileError if it is not a flatbuffer of a model.
    """

    def __init__(self, path: Path, content: memoryview | None = None) -> None:
        self.path = path
        mapped: Any = map_content(path) if content is None else content
        if mapped[4:8] != IDENTIFIER:
            if content is None:
                check_beginning(path, mapped, "tflite")
            raise ModelFileError(f"not a model of TensorFlow Lite: the identifier {IDENTIFIER.decode()} is missing", location=str(path))
        self.mapped: mmap.mmap | memoryview = mapped
        self.is_part = content is not None
        """Whether the model is embedded in the file, among other content, instead of being the whole file."""
        schema: Any = import_module("tflite.Model")
        with self.damage("the model"):
            self.root: Any = schema.Model.GetRootAs(mapped, 0)
            version = self.root.Version()
        if version != SCHEMA_VERSION:
            raise self.error(f"the version of its schema is {version}, not {SCHEMA_VERSION}")

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the file."""
        return ModelFileError(reason, location=str(self.path), hint=hint)

    @contextmanager
    def damage(self, what: str) -> Generator[None]:
        """A context in which reading outside of the file raises ModelFileError, which calls the damaged part `what`."""
        try:
            yield
        except _DAMAGES as error:
            raise self.error(f"{what} lies outside of the file", "the file is damaged, or not complete") from error

    def vector(self, length: int, get: Callable[[int], Any]) -> list[Any]:
        """A list of `length` entries, entry i of which is `get(i)`. Raises ModelFileError if the file is too short for
        it.

        Each entry takes four bytes of the file at least.
        """
        if not 0 <= length <= len(self.mapped) // 4:
            raise self.error(f"a list of {length} entries is longer than the file", "the file is damaged")
        return [get(index) for index in range(length)]

    @cached_property
    def subgraphs(self) -> list[Any]:
        """The subgraphs; the first one is the model. Raises ModelFileError if there are none."""
        with self.damage("a subgraph"):
            subgraphs = self.vector(self.root.SubgraphsLength(), self.root.Subgraphs)
        if not subgraphs:
            raise self.error("the model has no subgraphs")
        return subgraphs

    @cached_property
    def says_ranks(self) -> bool:
        """Whether the file stores for each tensor if its rank is known: a tensor without a shape is then a scalar only
        if its flag says so.

        Converters write the flag since 2.10, and their version since 2.9.
        """
        if (version := self.converter) is not None:
            return version >= FIRST_WITH_RANKS
        with self.damage("a tensor"):
            return any(each.HasRank() for table in self.subgraphs for each in self.vector(table.TensorsLength(), table.Tensors))

    @cached_property
    def converter(self) -> tuple[int, int] | None:
        """The version of TensorFlow whose converter wrote the file; None if the file does not have it."""
        with self.damage("the metadata"):
            for entry in self.vector(self.root.MetadataLength(), self.root.Metadata):
                if entry.Name() != b"CONVERSION_METADATA" or (raw := self.buffer(entry.Buffer())) is None:
                    continue
                if (match := _VERSION.search(raw[:LARGEST_METADATA].tobytes())) is not None:
                    return int(match[1]), int(match[2])
        return None

    @cached_property
    def signatures(self) -> list[Any]:
        """The signatures."""
        with self.damage("a signature"):
            return self.vector(self.root.SignatureDefsLength(), self.root.SignatureDefs)

    @cached_property
    def operators(self) -> list[tuple[str, bool]]:
        """The kinds that operators refer to, and whether they are custom ones.

        Raises ModelFileError for a number that the installed schema does not have.
        """
        builtin: dict[int, str] = import_module("tflite.utils").BUILTIN_OPCODE2NAME
        operators: list[tuple[str, bool]] = []
        with self.damage("the code of an operator"):
            for code in self.vector(self.root.OperatorCodesLength(), self.root.OperatorCodes):
                # Codes of old files have 8 bits, and larger ones stand as 127 there.
                number = max(_builtin_code(code), code.DeprecatedBuiltinCode())
                name = builtin.get(number)
                if name is None:
                    hint = "a newer version of the package tflite may know it"
                    raise self.error(f"the builtin operator {number} is unknown", hint)
                if name != "CUSTOM":
                    operators.append((name, False))
                    continue
                custom = text(code.CustomCode())
                if not custom or custom in builtin.values() or custom in OWN_KINDS:
                    raise self.error(f"a custom operator has the name {custom!r}, which a builtin one has, or no name")
                operators.append((custom, True))
        return operators

    def buffer(self, index: int) -> Array | None:
        """The bytes of a buffer, a view of the memory map; None for an empty one.

        Raises ModelFileError for a buffer that does not exist, or lies outside of the file.
        """
        with self.damage(f"buffer {index}"):
            count = self.root.BuffersLength()
            if not 0 <= index < count:
                raise self.error(f"there is no buffer {index} among {count}", "the file is damaged")
            buffer = self.root.Buffers(index)
            # In files above 2 GB the bytes stand after the flatbuffer; 0 and 1 are not offsets.
            if (offset := buffer.Offset()) > 1:
                return np.frombuffer(self.mapped, np.uint8, buffer.Size(), offset)
            return buffer.DataAsNumpy() if buffer.DataLength() else None


def _builtin_code(code: Any) -> int:
    """The field `builtin_code` of an operator code, 0 if it is absent.

    The accessor of the package `tflite` returns the older field of 8 bits if this one is below 127.
    """
    table = code._tab
    offset: int = table.Offset(BUILTIN_CODE_SLOT)
    return struct.unpack_from("<i", table.Bytes, table.Pos + offset)[0] if offset else 0


def text(value: bytes | None) -> str:
    """A string of the file as text; an absent one is empty."""
    return "" if value is None else value.decode(errors="replace")


def integers(values: Any) -> list[int]:
    """A vector of integers as a list; empty if it is absent.

    The generated classes return an array, or 0 for an absent vector.
    """
    return values.tolist() if isinstance(values, np.ndarray) else []
