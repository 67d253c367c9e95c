"""The generated protobuf messages of ONNX, loaded without the `onnx` package.

Importing `onnx` takes 0.3 s, nearly all of it for modules that a converter does not need; the messages alone take a
tenth of that. The module is not entered into `sys.modules`, so that a later `import onnx` is complete; protobuf gives
both the same message classes.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from moir.errors import ConversionError

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

_MODULE = "onnx.onnx_ml_pb2"


@cache
def onnx_messages() -> Any:
    """The module `onnx_ml_pb2`. Raises ConversionError if the `onnx` package is not installed."""
    if _MODULE in sys.modules:
        return sys.modules[_MODULE]
    package = importlib.util.find_spec("onnx")
    for folder in (package.submodule_search_locations or ()) if package else ():
        spec = importlib.util.spec_from_file_location(_MODULE, Path(folder) / "onnx_ml_pb2.py")
        if spec is not None and spec.loader is not None and (Path(folder) / "onnx_ml_pb2.py").is_file():
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            return module
    raise ConversionError("reading ONNX models needs the package onnx", hint="pip install onnx")


def new_model() -> onnx_ml_pb2.ModelProto:
    """An empty ModelProto."""
    return onnx_messages().ModelProto()


def is_text(value: object) -> bool:
    """Whether a string field is in UTF-8: if it is not, protobuf returns bytes in spite of its type."""
    return isinstance(value, str)


def decode_error() -> type[Exception]:
    """The exception of protobuf's parser."""
    from google.protobuf.message import DecodeError

    return DecodeError
