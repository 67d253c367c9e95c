"""ONNX file -> module in the `onnx` dialect.

Source: https://onnx.ai/onnx/repo-docs/IR.html and onnx-ml.proto of ONNX 1.23.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.module import Module
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel, add_notes
from moir.dialects.properties import integer_attribute, string_attribute
from moir.dialects.shapes import element_of
from moir.errors import ModelFileError
from moir.files.protobuf.damage import report_damage
from moir.files.protobuf.wire import Splitter
from moir.files.reading import check_beginning, map_content
from moir.frontends.onnx.functions import Functions
from moir.frontends.onnx.graph import GraphBuilder
from moir.frontends.onnx.messages import MESSAGES, is_text
from moir.frontends.onnx.structure import StructureReader, domain_name
from moir.frontends.onnx.tensors import TensorReader
from moir.frontends.onnx.types import converted, describe
from moir.frontends.onnx.wire_schema import ONNX_FORMAT

if TYPE_CHECKING:
    from onnx import onnx_ml_pb2

NEWEST_IR_VERSION = 14
NEWEST_OPSET = 28
"""The newest version of the default operator set in ONNX 1.23."""
_LONGEST_DOCUMENTATION = 1024


def read_model(path: str | Path) -> ModuleOp:
    """Read an ONNX file.

    Args:
        path: the file. Weights are views of memory maps of it and of the files of external data.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, inconsistent or not an
    ONNX model, or refers to files outside its folder.
    """
    path = Path(path)
    mapped = map_content(path)
    check_beginning(path, mapped, "onnx")
    splitter = Splitter(path, memoryview(mapped), ONNX_FORMAT)
    skeleton = splitter.split()
    kind = MESSAGES.reader("ModelProto")
    try:
        model: Any = kind.FromString(skeleton.data)
    except ValueError as error:
        report_damage(splitter, kind)
        raise ModelFileError(
            "damaged, nested too deeply or not an ONNX model: its protobuf encoding is invalid", location=str(path)
        ) from error
    reader = StructureReader(path)
    opsets = _check_versions(model, path)
    optional_inputs = _make_inputs_required(model.graph.input)
    graph = reader.graph(model.graph)
    reader.check_closed(graph)
    _check_inputs(graph.inputs, graph.initializers, path)
    functions = Functions(reader, [reader.function(function) for function in model.functions])
    functions.check(graph.nodes)
    tensors = TensorReader(path, mapped, skeleton.payloads, skeleton.key)
    builder = GraphBuilder(reader, tensors, functions)
    block = builder.model_block(graph)
    name = reader.text(model.graph.name, "the name of the graph") or path.stem or "model"
    attributes: dict[str, Attribute] = {
        ModuleLevel.OPSET_IMPORT: DictionaryAttr({domain or ONNX_DOMAIN: integer_attribute(version) for domain, version in opsets.items()}),
        # The name of an attribute is not empty in MLIR.
        ModuleLevel.METADATA: DictionaryAttr({key: string_attribute(value) for key, value in _metadata(model).items() if key}),
    }
    read = ModelOp.of(name, block, attributes)
    add_notes(read, [f"input {name!r} is optional in ONNX: here it is always given" for name in optional_inputs] + builder.notes)
    return Module([read])


def _check_versions(model: onnx_ml_pb2.ModelProto, path: Path) -> dict[str, int]:
    """The operator-set version of each domain. Raises ModelFileError for a version of the IR or of a set that is not
    known.
    """
    location = str(path)
    if not model.HasField("graph") or not model.HasField("ir_version"):
        missing = "a graph" if model.HasField("ir_version") else "an IR version"
        raise ModelFileError(f"not an ONNX model: it does not have {missing}", location=location)
    if not 1 <= model.ir_version <= NEWEST_IR_VERSION:
        hint = f"versions 1 to {NEWEST_IR_VERSION} are known"
        raise ModelFileError(f"it has the unknown IR version {model.ir_version}", location=location, hint=hint)
    opsets: dict[str, int] = {}
    own = len(model.opset_import)
    imports = [*model.opset_import, *(entry for function in model.functions for entry in function.opset_import)]
    for index, entry in enumerate(imports):
        domain = domain_name(entry.domain)
        if not is_text(domain):
            raise ModelFileError("the domain of an operator set is not in UTF-8", location=location)
        if index >= own and domain in opsets:
            # ONNX requires that operations of a function have the same meaning in the version the model imports.
            continue
        if opsets.get(domain, entry.version) != entry.version:
            raise ModelFileError(f"two versions of the operator set {domain!r} are imported", location=location)
        opsets[domain] = entry.version
        if entry.version < 1 or (not domain and entry.version > NEWEST_OPSET):
            reason = f"it needs version {entry.version} of the operator set {domain or 'ai.onnx'!r}"
            hint = None if domain else f"versions 1 to {NEWEST_OPSET} are known"
            raise ModelFileError(reason, location=location, hint=hint)
    if not opsets and model.ir_version < 3:
        opsets[""] = 1
    if not opsets:
        raise ModelFileError("it imports no operator set", location=location)
    return opsets


def _make_inputs_required(inputs: Any) -> list[str]:
    """Declare inputs that are optional tensors as required tensors; returns their names."""
    names: list[str] = []
    for info in inputs:
        if info.type.HasField("optional_type") and info.type.optional_type.elem_type.HasField("tensor_type"):
            info.type = info.type.optional_type.elem_type
            names.append(info.name)
    return names


def _check_inputs(inputs: Any, initializers: dict[str, Any], path: Path) -> None:
    """Raises ModelFileError for an input without initializer that is no tensor of a type that the operation
    sets have.
    """
    for info in inputs:
        if info.name in initializers:
            continue
        if not info.type.HasField("tensor_type") or element_of(converted(info.type, info.name)) == element_types.dynamic:
            reason = f"input {info.name!r} is of type {describe(info.type)}, which the operation sets do not have"
            hint = "make its members inputs" if info.type.HasField("sequence_type") else None
            raise ModelFileError(reason, location=str(path), hint=hint)


def _metadata(model: onnx_ml_pb2.ModelProto) -> dict[str, str]:
    """The metadata of a model: its fields, and the entries of `metadata_props` with other names."""
    entries = {entry.key: entry.value for entry in model.metadata_props}
    fields = {
        "producer_name": model.producer_name,
        "producer_version": model.producer_version,
        "domain": model.domain,
        "ir_version": str(model.ir_version),
        "model_version": str(model.model_version) if model.HasField("model_version") else "",
        "doc_string": model.doc_string if len(model.doc_string) <= _LONGEST_DOCUMENTATION else "",
    }
    entries |= {key: value for key, value in fields.items() if value}
    return {key: value for key, value in entries.items() if is_text(key) and is_text(value)}
