"""`.xml` and `.bin` -> a module with one model in opset dialects."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from moir.analysis.known_values import KnownValues
from moir.dialects.inference import infer_block
from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, ModuleLevel
from moir.dialects.properties import strings_attribute
from moir.errors import ConversionError, ModelFileError
from moir.frontends.openvino_ir.document import read_document
from moir.frontends.openvino_ir.legacy import upgrade
from moir.frontends.openvino_ir.operations import BlockBuilder, complete_names
from moir.frontends.openvino_ir.weights import WeightsFile

VERSIONS = ("10", "11")
"""The versions of the IR that are read."""


def read_model(path: str | Path) -> ModuleOp:
    """Read OpenVINO IR of version 10 or 11.

    Args:
        path: the `.xml`; the `.bin` lies beside it. Weights are views of its memory map.

    Types are inferred as the runtime does, which ignores the types in the file. A layer whose version is not that of
    an operation set becomes an operation of the dialect `extension`, with the types in the file.

    Raises ModelFileError for a file that is damaged or not IR, and InferenceError, with the name of the layer, for
    operands that contradict their operation.
    """
    path = Path(path)
    net = read_document(path)
    if net.tag != "net":
        raise ModelFileError("this is an XML document, but no OpenVINO IR", location=str(path), hint="give a model")
    version = net.get("version")
    if version not in VERSIONS:
        said = "no version" if version is None else f"version {version!r}"
        raise ModelFileError(f"it is an IR of {said}; versions 10 and 11 are read", location=str(path))
    try:
        builder = BlockBuilder(WeightsFile(path.with_suffix(".bin"), path))
        body = builder.body(net)
        block = body.block
        complete_names(block)
        infer_block(block, KnownValues())
        if version == VERSIONS[0]:
            upgrade(block)
    except ConversionError as error:
        if error.location is None:
            error.location = str(path)
        raise
    attributes: dict[str, Attribute] = {}
    if builder.unknown_sets:
        attributes[ModuleLevel.NOTES] = strings_attribute([_note(version, names) for version, names in builder.unknown_sets.items()])
    if body.information:
        attributes[ModuleLevel.RUNTIME_INFO] = DictionaryAttr(body.information)
    return Module([ModelOp.of(net.get("name", "Model0"), block, attributes)])


def _note(version: str, layers: list[str]) -> str:
    """The note about layers of a version that is not an operation set."""
    more = f" and {len(layers) - 1} more" if len(layers) > 1 else ""
    return f"layer {layers[0]}{more}: OpenVINO has no operation set {version!r}; the runtime needs an extension with it"
