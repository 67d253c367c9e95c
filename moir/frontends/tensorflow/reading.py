"""TensorFlow's files -> messages and their tensors. Weights stay in the memory map of the file.

Source: https://protobuf.dev/reference/protobuf/textformat-spec for `.pbtxt`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from moir.errors import ModelFileError
from moir.frontends.files import map_file
from moir.frontends.protobuf.content import looks_like
from moir.frontends.protobuf.damage import report_damage
from moir.frontends.protobuf.wire import FileFormat, Splitter
from moir.frontends.tensorflow.messages import message_class, message_pool
from moir.frontends.tensorflow.tensors import TensorReader

MAXIMUM_TEXT_BYTES = 1 << 28
"""Largest size of a text file: its parser takes a hundred times as much memory as that of binary files."""

_ONNX = re.compile(rb"\x08[\x01-\x1f](?:[\x1a\x22\x28\x32\x3a\x42]|\x12.[ -~]{3})", re.DOTALL)
"""The first bytes of an ONNX model: the version of the IR, then a field that is a string or a number.

A SavedModel begins in the same way, but a message follows.
"""

_SAVED_MODEL = re.compile(rb"\x08\x01\x12", re.DOTALL)


@dataclass(frozen=True)
class ModelFile:
    """A parsed file: its outermost message, and the reader of the tensors in it."""

    path: Path
    message: Any
    tensors: TensorReader


def read_binary(path: Path, format: FileFormat) -> ModelFile:
    """Read a binary file. Raises ModelFileError if it is damaged or of another format."""
    mapped = map_file(path)
    if mapped is None:
        raise ModelFileError("the file is empty", location=str(path))
    kind = "an ONNX model" if _ONNX.match(mapped) and format.message != "SavedModel" else looks_like(mapped)
    if kind is not None:
        hint = "name it .pbtxt if it is a graph in protobuf's text format" if kind == "text" else None
        raise ModelFileError(f"not {format.name}, but {kind}", location=str(path), hint=hint)
    if _SAVED_MODEL.match(mapped) and format.message == "GraphDef":
        raise ModelFileError("not a graph, but a SavedModel", location=str(path), hint="name it saved_model.pb, as its exporter did")
    splitter = Splitter(path, memoryview(mapped), format)
    skeleton = splitter.split()
    from google.protobuf.message import DecodeError

    message = message_class(format.message)()
    try:
        message.ParseFromString(skeleton.data)
    except DecodeError as error:
        report_damage(splitter, message.DESCRIPTOR)
        reason = f"damaged, nested too deeply or not {format.name}: its protobuf encoding is invalid"
        raise ModelFileError(reason, location=str(path)) from error
    return ModelFile(path, message, TensorReader(path, mapped, skeleton.payloads, skeleton.key))


def read_text(path: Path, format: FileFormat) -> ModelFile:
    """Read a file in protobuf's text format. Raises ModelFileError, with the line, if it is not in that format."""
    mapped = map_file(path)
    if mapped is None:
        raise ModelFileError("the file is empty", location=str(path))
    if len(mapped) > MAXIMUM_TEXT_BYTES:
        raise ModelFileError(f"more than {MAXIMUM_TEXT_BYTES >> 20} MB of text", location=str(path), hint="convert it to a binary .pb")
    kind = looks_like(mapped)
    if kind not in (None, "text"):
        raise ModelFileError(f"not {format.name} as text, but {kind}", location=str(path))
    from google.protobuf import text_format

    message = message_class(format.message)()
    try:
        text = mapped[:].decode()
        text_format.Parse(text, message, allow_unknown_field=True, descriptor_pool=message_pool())
    except UnicodeDecodeError as error:
        hint = "name it .pb if it is a binary file"
        raise ModelFileError("text that is not in UTF-8", location=f"{path}, offset {error.start}", hint=hint) from None
    except text_format.ParseError as error:
        line = error.GetLine()
        place = str(path) if line is None else f"{path}, line {line}"
        raise ModelFileError(f"not {format.name} as text: {_reason(error)}", location=place) from error
    except RecursionError as error:
        raise ModelFileError("messages are nested too deeply", location=str(path)) from error
    return ModelFile(path, message, TensorReader(path))


def _reason(error: Exception) -> str:
    """The message of a parser's error, without the position and the name of the package."""
    text = str(error).split("\n", 1)[0]
    before, separator, behind = text.partition(" : ")
    return (behind if separator and before.replace(":", "").isdigit() else text).strip()


def read_file(path: Path, format: FileFormat) -> ModelFile:
    """Read a file: in text format if its name ends in `.pbtxt`, else in binary format."""
    return read_text(path, format) if path.suffix.lower() == ".pbtxt" else read_binary(path, format)
