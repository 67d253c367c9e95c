"""TensorFlow's files -> messages and their tensors. Weights stay in the memory map of the file.

A file is recognized by its content: which message it is, and whether in protobuf's binary or text format.

Source: https://protobuf.dev/reference/protobuf/textformat-spec for `.pbtxt`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.files.protobuf.damage import report_damage
from moir.files.protobuf.wire import FileFormat, Splitter
from moir.files.reading import check_beginning, map_content
from moir.files.recognition import beginning_of
from moir.frameworks.record import VARINT, is_text
from moir.frontends.tensorflow.messages import message_class, message_pool, reader
from moir.frontends.tensorflow.tensors import TensorReader
from moir.frontends.tensorflow.wire_schema import GRAPH_FORMAT, META_GRAPH_FORMAT, SAVED_MODEL_FORMAT
from moir.support.records import Record

MAXIMUM_TEXT_BYTES = 1 << 28
"""Largest size of a text file: its parser takes a hundred times as much memory as that of binary files."""
SAVED_MODEL_NAMES = ("saved_model.pb", "saved_model.pbtxt")
"""The names of the file of a SavedModel in its folder."""

_TEXT = rb"(?:\s|#[^\n]*\n)*"
_BEGINNINGS: tuple[tuple[FileFormat, bytes], ...] = (
    (SAVED_MODEL_FORMAT, rb"\x08\x01\x12"),
    # A binary MetaGraph may also begin as a graph does, with a name.
    (META_GRAPH_FORMAT, rb"\x0a" + VARINT + rb"[\x12\x22\x2a]"),
)
_TEXT_BEGINNINGS: tuple[tuple[FileFormat, bytes], ...] = (
    (SAVED_MODEL_FORMAT, _TEXT + rb"(?:meta_graphs|saved_model_schema_version)\s*[{:]"),
    (META_GRAPH_FORMAT, _TEXT + rb"(?:meta_info_def|graph_def|saver_def)\s*[{:]"),
    (GRAPH_FORMAT, _TEXT + rb"(?:node|library|versions)\s*[{:]"),
)
"""For each kind of text file, a regular expression that matches its beginning."""


class ModelFile(Record):
    """A parsed file: its outermost message, and the reader of the tensors in it."""

    path: Path
    message: Any
    tensors: TensorReader


def read_binary(path: Path, format: FileFormat, folder: Path | None = None) -> ModelFile:
    """Read a binary file. Raises ModelFileError if it is damaged, of another format, or a link out of `folder`."""
    mapped = map_content(path, folder)
    check_beginning(path, mapped, "tf")
    splitter = Splitter(path, memoryview(mapped), format)
    skeleton = splitter.split()
    kind = reader(format.message)
    try:
        message = kind.FromString(skeleton.data)
    except ValueError as error:
        report_damage(splitter, kind)
        reason = f"damaged, nested too deeply or not {format.name}: its protobuf encoding is invalid"
        raise ModelFileError(reason, location=str(path)) from error
    return ModelFile(path, message, TensorReader(path, mapped, skeleton.payloads, skeleton.key))


def read_text(path: Path, format: FileFormat, folder: Path | None = None) -> ModelFile:
    """Read a file in protobuf's text format.

    Raises ModelFileError, with the line, if it is not in that format, and if it is a link out of `folder`.
    """
    mapped = map_content(path, folder)
    if len(mapped) > MAXIMUM_TEXT_BYTES:
        raise ModelFileError(f"more than {MAXIMUM_TEXT_BYTES >> 20} MB of text", location=str(path), hint="convert it to a binary .pb")
    check_beginning(path, mapped, "tf")
    from google.protobuf import text_format

    from moir.files.protobuf.text_format import in_short_strings

    message = message_class(format.message)()
    try:
        text = mapped[:].decode()
        text_format.Parse(in_short_strings(text), message, allow_unknown_field=True, descriptor_pool=message_pool())
    except UnicodeDecodeError as error:
        raise ModelFileError("text that is not in UTF-8", location=f"{path}, offset {error.start}") from None
    except text_format.ParseError as error:
        from moir.files.protobuf.text_format import location_of, reason_of

        raise ModelFileError(f"not {format.name} as text: {reason_of(error)}", location=location_of(error, path)) from error
    except ValueError as error:
        # A number beyond the range of its field.
        raise ModelFileError(f"not {format.name} as text: {str(error)[:100]}", location=str(path)) from error
    except RecursionError as error:
        raise ModelFileError("messages are nested too deeply", location=str(path)) from error
    return ModelFile(path, message, TensorReader(path))


def read_file(path: Path, format: FileFormat, folder: Path | None = None) -> ModelFile:
    """Read a file in protobuf's text or binary format; `folder` is the folder that the user named, if the file was
    found in one.
    """
    return read_text(path, format, folder) if is_text(beginning_of(path)) else read_binary(path, format, folder)


def format_of(path: Path) -> FileFormat:
    """The format of a file (a graph, a MetaGraph or a SavedModel; binary or text): by its first bytes, or else by its
    name.
    """
    beginning = beginning_of(path)
    for format, expression in _TEXT_BEGINNINGS if is_text(beginning) else _BEGINNINGS:
        if re.match(expression, beginning, re.DOTALL):
            return format
    if path.name in SAVED_MODEL_NAMES:
        return SAVED_MODEL_FORMAT
    return META_GRAPH_FORMAT if path.suffix.lower() == ".meta" else GRAPH_FORMAT
