"""Keras model, a `.keras` or `.h5` file -> module in the `keras` dialect."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from moir.dialects.module import Module
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel
from moir.dialects.properties import integer_attribute
from moir.errors import ConversionError
from moir.files.json_texts import MODEL_JSON, begins_object, model_name, read_json_model
from moir.files.recognition import beginning_of
from moir.frontends.keras.builder import ModelBuilder
from moir.frontends.keras.graph import block_of
from moir.frontends.keras.model_file import ModelFile, read_file


def read_model(path: str | Path, weights: str | Path | None = None) -> ModuleOp:
    """Read a Keras model.

    Args:
        path: the `.keras` or `.h5` file, of Keras 2 or 3; the `model.json` of a layers model of TensorFlow.js, or its
            folder; or the text of `model.to_json()`.
        weights: the file with the weights of such a text: `.h5`, `.keras` or `.npz`.

    Returns a module with one `moir.model`; its version of the operation set is the generation of Keras. Raises
    ModelFileError for a file that is damaged, or that has no graph of the model, and ConversionError for weights of a
    file that has its own.
    """
    path = Path(path)
    if path.is_dir():
        path /= MODEL_JSON
    file = _file(path, None if weights is None else Path(weights))
    block = block_of(ModelBuilder(file, str(path)))
    # The meaning of some layers and functions differs between Keras 2 and 3.
    versions = DictionaryAttr({domain: integer_attribute(file.generation) for domain in (ONNX_DOMAIN, "ops")})
    attributes: dict[str, Attribute] = {ModuleLevel.OPSET_IMPORT: versions}
    return Module([ModelOp.of(model_name(path), block, attributes)])


def _file(path: Path, weights: Path | None) -> ModelFile:
    """The configuration and the weights of a model; `weights` is the file with the weights of a JSON text.

    Raises ConversionError if the file has weights of its own and `weights` is given.
    """
    if begins_object(beginning_of(path)) and (described := read_json_model(path)) is not None:
        from moir.frontends.keras.described_model import read_described_model

        return read_described_model(path, described[1], weights)
    if weights is not None:
        raise ConversionError("the file has the weights of its model", location=str(path), hint="leave out the option weights")
    return read_file(path)
