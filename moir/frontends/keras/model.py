"""Keras model, a `.keras` or `.h5` file -> module in the `keras` dialect."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from moir.dialects.module import Module
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel
from moir.dialects.properties import integer_attribute
from moir.frontends.keras.builder import ModelBuilder
from moir.frontends.keras.graph import block_of
from moir.frontends.keras.model_file import read_file


def read_model(path: str | Path) -> ModuleOp:
    """Read a Keras model.

    Args:
        path: the `.keras` or `.h5` file, of Keras 2 or 3.

    Returns a module with one `moir.model`; its version of the operation set is the generation of Keras. Raises
    ModelFileError for a file that is damaged, or that has no graph of the model.
    """
    path = Path(path)
    file = read_file(path)
    block = block_of(ModelBuilder(file, str(path)))
    # The meaning of some layers and functions differs between Keras 2 and 3.
    versions = DictionaryAttr({domain: integer_attribute(file.generation) for domain in (ONNX_DOMAIN, "ops")})
    attributes: dict[str, Attribute] = {ModuleLevel.OPSET_IMPORT: versions}
    return Module([ModelOp.of(path.stem or "model", block, attributes)])
