"""The files of external data that an ONNX model names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from moir.files.protobuf.wire import Splitter
from moir.files.reading import map_content
from moir.frontends.onnx.messages import MESSAGES
from moir.frontends.onnx.wire_schema import ONNX_FORMAT

_LOCATION = "location"
_MESSAGES = (
    "graph",
    "functions",
    "node",
    "initializer",
    "sparse_initializer",
    "attribute",
    "t",
    "g",
    "tensors",
    "graphs",
    "values",
    "indices",
)
"""The fields, at any depth, below which there are tensors."""


def names_of_data(path: Path) -> list[str]:
    """The names of the files that tensors of a model refer to, as they are in the file; empty if it is damaged.

    Args:
        path: the ONNX file. Its weights are not read.

    Raises ModelFileError for a file that is too large to be decoded; reading the model says the same.
    """
    splitter = Splitter(path, memoryview(map_content(path)), ONNX_FORMAT)
    kind = MESSAGES.reader("ModelProto")
    try:
        model: Any = kind.FromString(splitter.split().data)
    except ValueError:
        return []
    entries = (entry for tensor in _tensors(model) for entry in tensor.external_data)
    return list(dict.fromkeys(entry.value for entry in entries if entry.key == _LOCATION and isinstance(entry.value, str)))


def _tensors(message: Any) -> Iterator[Any]:
    """The tensors in a message, at any depth."""
    stack = [message]
    while stack:
        each = stack.pop()
        if hasattr(each, "external_data"):
            yield each
        for field in _MESSAGES:
            value = getattr(each, field, None)
            # A part of a message that is not repeated has no length.
            if value is not None and not isinstance(value, str | bytes | int | float):
                stack.extend(value if hasattr(value, "__len__") else [value])
