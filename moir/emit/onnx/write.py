"""Writing a module in the `onnx` dialect as an ONNX model, with a file of external data beside a large one."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, TypeAlias

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.data import DataAttr
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, all_blocks, models_of
from moir.emit.onnx.encoding import MessageWriter
from moir.emit.onnx.model import OnnxWriter, operator_set_versions
from moir.emit.weights import Weights
from moir.errors import EmissionError
from moir.support.records import Record

LARGEST_MESSAGE = (1 << 31) - 1
"""The greatest size in bytes of a message that protobuf's parsers accept."""

_WITHIN = 15 << 27
"""Largest total size in bytes of the weights for which a model is a single file; the rest of `LARGEST_MESSAGE` is for
the nodes.
"""

DATA_SUFFIX = ".data"

Replacing: TypeAlias = Callable[[Path], AbstractContextManager[BinaryIO]]
"""The type of functions that take a path and return a context with an open file, which replaces the file at the path
when the context ends.
"""


class WrittenOnnx(Record):
    """The result of `write_onnx`.

    Args:
        path: path of the model.
        data_path: path of its external data; None if it holds all weights itself.
        nodes: number of nodes, with those in bodies.
        weights_bytes: size of the tensors in bytes.
        address: the address of the model if it lies elsewhere, empty on this machine; see `at`.
    """

    path: Path
    data_path: Path | None
    nodes: int
    weights_bytes: int
    address: str = ""

    @property
    def files(self) -> list[Path]:
        """The paths of all files."""
        return [self.path, *([] if self.data_path is None else [self.data_path])]

    def at(self, address: str) -> WrittenOnnx:
        """This result for a model that was sent to an address: the paths are the names of files in its folder.

        This result itself for an empty address.
        """
        if not address:
            return self
        data_path = None if self.data_path is None else Path(self.data_path.name)
        return self.with_fields(path=Path(self.path.name), data_path=data_path, address=address)


def write_onnx(module: ModuleOp, path: Path, replacing: Replacing, *, largest_within: int = _WITHIN) -> WrittenOnnx:
    """Write a module with one model in the `onnx` dialect.

    Args:
        module: the module.
        path: the file to write; external data are written to `NAME.onnx.data` beside it.
        replacing: opens the files.
        largest_within: the maximum size in bytes of weights that the model holds itself.

    Raises EmissionError for a module that ONNX cannot represent.
    """
    models = models_of(module)
    if len(models) != 1:
        raise EmissionError(f"an ONNX file holds one model, the module has {len(models)}")
    model = models[0]
    data_path = path.with_name(path.name + DATA_SUFFIX) if _weights_bytes(model) > largest_within else None
    weights = None if data_path is None else Weights()
    writer = OnnxWriter(operator_set_versions(model)[ONNX_DOMAIN], weights, "" if data_path is None else data_path.name)
    message: MessageWriter = writer.model(model)
    if message.size > LARGEST_MESSAGE:
        raise EmissionError(f"the model without its weights has {message.size} bytes, more than a file of ONNX can have")
    path.parent.mkdir(parents=True, exist_ok=True)
    if weights is not None and data_path is not None:
        with replacing(data_path) as file:
            weights.write(file.write)
    with replacing(path) as file:
        message.write(file.write)
    return WrittenOnnx(path, data_path, writer.nodes, writer.weights_bytes)


def _weights_bytes(model: ModelOp) -> int:
    """The size of the constants of a model in bytes."""
    constants = (op.properties.get("value") for block in all_blocks(model) for op in block.ops if op.name == "opset1.Constant")
    return sum(value.nbytes for value in constants if isinstance(value, DataAttr))
