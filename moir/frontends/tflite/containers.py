"""Containers of language models, `.litertlm`: sections with models and tokenizers, and a header that lists them.

The item `model_type` of a section says what its model is for.

    LITERTLM, version, …, end of the header (at 24), header (at 32): a flatbuffer; sections at multiples of 16 KiB

Source: google-ai-edge/LiteRT-LM, schema/core/litertlm_header_schema.fbs.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError, UsageError
from moir.files.reading import map_content
from moir.frontends.tflite.flatbuffer import ModelFile
from moir.frontends.tflite.signatures import signature_names
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

IDENTIFIER = b"LITERTLM"
_END, _HEADER = 24, 32
"""Offsets of the end of the header, and of the header."""

_TFLITE_MODEL, _STRING_VALUE = 3, 9
"""The type of sections that are models, and that of values that are texts."""

_LARGEST_HEADER = 1 << 14
"""The largest offset of the header's end: the header and what precedes it take up at most one block of 16 KiB."""

_MODEL_TYPE = "model_type"

_WIDTH = 4
"""The size of an offset in bytes."""

Table = Any
"""A table of the package `flatbuffers`, which has no types."""


class Section(Record):
    """A model in a container.

    Args:
        name: what it is for, `model` if the file does not say so.
        begin, end: its offsets in the file.
    """

    name: str
    begin: int
    end: int


def model_sections(path: Path, mapped: mmap.mmap) -> list[Section]:
    """The models in a container. Raises ModelFileError if its header is damaged, or lists none."""
    try:
        (end,) = struct.unpack_from("<Q", mapped, _END)
        if not _HEADER < end <= min(len(mapped), _LARGEST_HEADER):
            raise ValueError
        sections = list(_sections(mapped[_HEADER:end]))
    except (struct.error, ValueError, TypeError, IndexError, OverflowError) as error:
        raise ModelFileError("its header cannot be read", location=str(path), hint="the file is damaged, or not complete") from error
    if any(not 0 < each.begin < each.end <= len(mapped) for each in sections):
        raise ModelFileError("a section lies outside of the file", location=str(path), hint="the file is damaged, or not complete")
    if not sections:
        raise ModelFileError("the container has no model of TensorFlow Lite", location=str(path))
    return sections


def opened_model(path: Path, signature: str | None = None) -> tuple[ModelFile, str | None]:
    """The model of a file or of a container, and the name of the signature in it; None for the signature of the first
    subgraph.

    Args:
        path: the file.
        signature: the name of a signature; for a container also `NAME` or `NAME/SIGNATURE` of a model in it.

    Raises UsageError, with the names of the models, if none or several of a container fit.
    """
    mapped = map_content(path)
    if mapped[: len(IDENTIFIER)] != IDENTIFIER:
        return ModelFile(path), signature
    sections = model_sections(path, mapped)
    view = memoryview(mapped)

    def model(section: Section) -> ModelFile:
        return ModelFile(path, view[section.begin : section.end])

    name, slash, rest = (signature or "").partition("/")
    for section in sections:
        if section.name == name:
            return model(section), rest if slash else None
    files = [model(section) for section in sections]
    if signature is not None:
        files = [each for each in files if signature in signature_names(each)]
    if len(files) == 1:
        return files[0], signature
    names = [section.name for section in sections]
    there = f"--signature chooses a model, NAME/SIGNATURE a signature of it: {', '.join(names)}"
    reason = f"the container has {len(files) or 'no'} models" + ("" if signature is None else f" with the signature {signature!r}")
    raise UsageError(reason, location=str(path), hint=there if signature is None else did_you_mean(signature, names, there))


def _sections(header: bytes) -> Iterator[Section]:
    root = _at(header, struct.unpack_from("<I", header, 0)[0])
    for each in _tables(_table(root, 6), 4):
        if _number(each, 10, "<B") == _TFLITE_MODEL:
            texts = dict(_texts(each))
            yield Section(texts.get(_MODEL_TYPE, "model"), _number(each, 6, "<Q"), _number(each, 8, "<Q"))


def _texts(section: Table) -> Iterator[tuple[str, str]]:
    """The items (name, text) of a section whose values are texts."""
    for each in _tables(section, 4):
        if _number(each, 6, "<B") == _STRING_VALUE:
            yield _text(each, 4), _text(_table(each, 8), 4)


def _at(data: bytes, position: int) -> Table:
    return import_module("flatbuffers.table").Table(data, position)


def _field(table: Table, slot: int) -> int:
    """The position of the field in a slot of a table; 0 if it is absent."""
    offset: int = table.Offset(slot)
    return table.Pos + offset if offset else 0


def _number(table: Table, slot: int, layout: str) -> int:
    position = _field(table, slot)
    return struct.unpack_from(layout, table.Bytes, position)[0] if position else 0


def _table(table: Table, slot: int) -> Table:
    """The table in the field of a slot. Raises ValueError if it is absent."""
    position = _field(table, slot)
    if not position:
        raise ValueError(slot)
    return _at(table.Bytes, table.Indirect(position))


def _tables(table: Table, slot: int) -> Iterator[Table]:
    """The tables of a vector; none if it is absent. Raises ValueError for a vector that is longer than the file."""
    if not _field(table, slot):
        return
    offset: Any = table.Offset(slot)
    start, count = table.Vector(offset), table.VectorLen(offset)
    if not 0 <= count <= len(table.Bytes) // _WIDTH:
        raise ValueError(count)
    for index in range(count):
        yield _at(table.Bytes, table.Indirect(start + index * _WIDTH))


def _text(table: Table, slot: int) -> str:
    position = _field(table, slot)
    return bytes(table.String(position)).decode("utf-8", "replace") if position else ""
