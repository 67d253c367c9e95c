"""A graph model of TensorFlow.js -> module: a GraphDef in protobuf's JSON format, with its constants in other files.

    {"format": "graph-model", "signature": {…}, "modelTopology": {"node": […], "library": {…}}, "weightsManifest": […],
     "modelInitializer": {"node": […]}, "initializerSignature": {…}}

Before TensorFlow.js 1.0 the graph was a binary file, `tensorflowjs_model.pb`, beside `weights_manifest.json`.

The initializer is a second graph, which fills the hash tables of the first. A table is an input of the first graph, a
placeholder, with the same `resourceId` as an output of the initializer; or both graphs have a node of its name.

Source: tfjs-converter/python/tensorflowjs/converters/tf_saved_model_conversion_v2.py of TensorFlow.js 4.22.
"""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import describe
from moir.dialects.large_arrays import Values
from moir.errors import ConversionError, ModelFileError
from moir.files.json_texts import BINARY_GRAPH, MANIFEST, JsonModel, model_name, read_list
from moir.frontends.tensorflow.execution import Execution
from moir.frontends.tensorflow.messages import message_class, message_pool
from moir.frontends.tensorflow.meta_graph import import_resolved
from moir.frontends.tensorflow.reading import ModelFile
from moir.frontends.tensorflow.references import Tensor, reference
from moir.frontends.tensorflow.signatures import DEFAULT_SIGNATURE, choose_signature
from moir.frontends.tensorflow.state.assets import Assets
from moir.frontends.tensorflow.state.nodes import TABLE_KINDS
from moir.frontends.tensorflow.state.resources import Resources, Variables, table_contents
from moir.frontends.tensorflow.tensors import VALUE_FIELDS, TensorReader, readable_type
from moir.frontends.tensorflow_js.weights import Weight, read_weights

MAXIMUM_VALUES = 1 << 19
"""Largest number of values in the JSON text of a graph: protobuf needs some microseconds for each."""
_INITIALIZER_PREFIX = "initializer/"
_HINT = "convert the model to TensorFlow.js again"


class ManifestTensors(TensorReader):
    """Reads the tensors of a graph whose constants are weights of a manifest.

    Args:
        path: the file of the graph.
        weights: the weights by the names of the constants.
    """

    def __init__(self, path: Path, weights: Mapping[str, Weight]) -> None:
        super().__init__(path)
        self.weights = weights

    def read(self, tensor: Any, name: str) -> DataAttr:
        """The weight of this name, in the data type and shape that the graph declares; or else the tensor itself.

        Raises ModelFileError if the weight has another shape, or a tensor is neither in the graph nor in the manifest.
        """
        weight = self.weights.get(name)
        if weight is None:
            if not any(len(getattr(tensor, field)) for field in VALUE_FIELDS) and math.prod(self.shape(tensor.tensor_shape, name)):
                raise self.error(name, f"it is not in the list of weights, and {self.path.name} does not have its values")
            return super().read(tensor, name)
        row = readable_type(tensor.dtype, name, str(self.path))
        shape = self.shape(tensor.tensor_shape, name)
        is_string = weight.dtype == "string"
        if weight.shape != shape:
            raise self.error(name, f"it has the shape {list(shape)}, and {list(weight.shape)} in the list of weights")
        if is_string != (row.name == "STRING") or (weight.dtype == "complex64") != row.is_complex:
            raise self.error(name, f"it is of the type {row.name}, and {weight.dtype} in the list of weights")
        assert row.element is not None
        if weight.data.element == row.element:
            return weight.data
        described = describe(row.element)
        if described.is_packed:
            raise self.error(name, f"TensorFlow.js has no tensors of {row.name}")
        values: Values = weight.data.values
        return DataAttr(TensorData(values.astype(np.dtype(described.numpy)), row.element, weight.data.shape))


def read_graph_model(path: Path, model: JsonModel, signature: str | None = None, wanted: tuple[Tensor, ...] = ()) -> ModuleOp:
    """Read a graph model.

    Args:
        path: its `model.json`.
        model: the content of the file.
        signature: name of the signature; None or the usual name, since a graph model has only one signature, without a
            name.
        wanted: see `read_model`.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, or without weights.
    """
    if signature is not None and signature != DEFAULT_SIGNATURE:
        raise ConversionError("a graph model of TensorFlow.js has one signature", location=str(path), hint="leave out the signature")
    fields = model.fields
    if sum(1 for _ in _values([model.topology, fields.get("modelInitializer")])) > MAXIMUM_VALUES:
        reason = f"its graph has more than {MAXIMUM_VALUES} values"
        raise ModelFileError(reason, location=str(path), hint="convert the SavedModel that it was made from")
    graph = _message("GraphDef", model.topology, path, "the graph")
    # Until version 2 of TensorFlow.js the signature was a part of the metadata.
    own = fields.get("signature") or _field(fields.get("userDefinedMetadata"), "signature")
    if (initializer := fields.get("modelInitializer")) is not None:
        tables = _tables(own, fields.get("initializerSignature"))
        own = _merge(graph, _message("GraphDef", initializer, path, "the initializer"), tables, own)
    if model.is_tensorflow_js and fields.get("weightsManifest") is None:
        reason = "this is a model.json of TensorFlow.js without a list of weights"
        raise ModelFileError(reason, location=str(path), hint="give a model.json with a weightsManifest, and the files that it names")
    tensors = ManifestTensors(path, read_weights(fields.get("weightsManifest") or [], path))
    chosen = None
    if own:
        meta_graph = message_class("MetaGraphDef")()
        meta_graph.graph_def.CopyFrom(graph)
        meta_graph.signature_def[DEFAULT_SIGNATURE].CopyFrom(_message("SignatureDef", own, path, "the signature"))
        chosen = choose_signature(meta_graph, DEFAULT_SIGNATURE, path)
    return import_resolved(ModelFile(path, graph, tensors), _resources(graph, tensors, path), model_name(path), chosen, _HINT, wanted)


def binary_graph(file: ModelFile) -> ModelFile:
    """A binary graph of TensorFlow.js with the weights of the manifest beside it; any other file is returned unchanged.

    Raises ModelFileError if the manifest is missing or damaged.
    """
    manifest = file.path.parent / MANIFEST
    if file.path.name != BINARY_GRAPH and not (manifest.is_file() and _has_no_values(file)):
        return file
    if not manifest.is_file():
        reason = "this is the graph of a TensorFlow.js model, whose weights are in other files"
        raise ModelFileError(reason, location=str(file.path), hint=f"copy {MANIFEST} and the files that it names beside it")
    content = read_list(manifest, file.path, "the list of weights")
    return ModelFile(file.path, file.message, ManifestTensors(file.path, read_weights(content, manifest)))


def _has_no_values(file: ModelFile) -> bool:
    """Whether a graph has constants, but none of them contains values."""
    constants = [node.attr["value"].tensor for node in file.message.node if node.op == "Const" and "value" in node.attr]
    return bool(constants) and not any(
        file.tensors.payload(tensor) is not None or any(len(getattr(tensor, field)) for field in VALUE_FIELDS) for tensor in constants
    )


def _message(kind: str, content: Any, path: Path, what: str) -> Any:
    """Parse a message of type `kind` from protobuf's JSON format.

    Raises ModelFileError, which calls the damaged part `what`.
    """
    from google.protobuf import json_format

    try:
        return json_format.ParseDict(
            _with_bytes(content), message_class(kind)(), ignore_unknown_fields=True, descriptor_pool=message_pool()
        )
    except (json_format.ParseError, ValueError, TypeError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())[:200]
        raise ModelFileError(f"{what} is not a message {kind} in JSON: {reason}", location=str(path), hint=_HINT) from error


def _values(content: Any) -> Iterator[Any]:
    """All values in nested lists and objects, at most one more than a graph may have, so that the caller notices an
    excess.
    """
    remaining: list[Any] = [content]
    for _ in range(MAXIMUM_VALUES + 1):
        if not remaining:
            return
        value = remaining.pop()
        yield value
        if isinstance(value, list):
            remaining += cast("list[Any]", value)
        elif isinstance(value, dict):
            remaining += cast("dict[str, Any]", value).values()


def _with_bytes(value: Any) -> Any:
    """A value in protobuf's JSON format, in which bytes are base64; some converters write bytes as arrays of integers
    instead.
    """
    if isinstance(value, list):
        return [_with_bytes(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    fields = cast("dict[str, Any]", value)
    return {name: _texts(each) if name == "s" else _with_bytes(each) for name, each in fields.items()}


def _texts(value: Any) -> Any:
    """The content of a field `s` in base64; the file may have a string, a list of strings, or a list of bytes for each
    string.
    """
    if not isinstance(value, list):
        return value
    elements = cast("list[Any]", value)
    if elements and all(isinstance(each, int) and 0 <= each < 256 for each in elements):
        return b64encode(bytes(elements)).decode()
    return [_texts(each) for each in elements]


def _resources(graph: Any, tensors: TensorReader, path: Path) -> Resources:
    """The hash tables of a graph, filled by its initializers. Variables are constants in a graph model."""
    execution = Execution(graph, tensors.read, {}, Assets(path, path.parent).open)
    execution.run(execution.table_initializers())
    return Resources(Variables(graph, execution, None), table_contents(graph, execution, None))


# Initializers


def _field(value: Any, key: str) -> Any:
    """A field of a JSON object; None if it is no object, or lacks the field."""
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def _entries(signature: Any, key: str) -> dict[str, dict[str, Any]]:
    """The inputs or outputs (`key`) of a signature, by name, without those that are not JSON objects; empty if there
    are none.
    """
    entries = _field(signature, key)
    if not isinstance(entries, dict):
        return {}
    return {name: cast("dict[str, Any]", each) for name, each in cast("dict[str, Any]", entries).items() if isinstance(each, dict)}


def _tables(signature: Any, initializer: Any) -> dict[str, str]:
    """A placeholder of a table in the graph -> the node of the initializer that creates this table.

    Both have the same `resourceId` in the signatures.
    """
    made = {each.get("resourceId"): str(each.get("name")) for each in _entries(initializer, "outputs").values()}
    return {
        reference(str(each.get("name")))[0]: reference(made[each["resourceId"]])[0]
        for each in _entries(signature, "inputs").values()
        if each.get("resourceId") in made and each.get("resourceId") is not None
    }


def _merge(graph: Any, initializer: Any, tables: Mapping[str, str], signature: Any) -> Any:
    """Add the nodes of the initializer to the graph, and replace the graph's placeholders for tables by the tables.

    Args:
        graph: the GraphDef, which is changed.
        initializer: the GraphDef of the initializer.
        tables: the node of the initializer that creates the table, by the name of the placeholder.
        signature: the signature in JSON.

    Returns the signature without the inputs that are tables.
    """
    own = {node.name: node for node in graph.node}
    shared = {node.name for node in initializer.node if node.name in own and node.op in TABLE_KINDS and own[node.name].op == node.op}
    renamed = {
        node.name: node.name if node.name in shared or node.name not in own else _INITIALIZER_PREFIX + node.name
        for node in initializer.node
    }
    placeholders = {placeholder: renamed.get(table, table) for placeholder, table in tables.items()}
    for node in graph.node:
        _rename_operands(node, placeholders)
    kept = [node for node in graph.node if node.name not in placeholders]
    del graph.node[:]
    graph.node.extend(kept)
    for node in initializer.node:
        if node.name not in shared:
            added = graph.node.add()
            added.CopyFrom(node)
            added.name = renamed[node.name]
            _rename_operands(added, renamed)
    graph.library.function.extend(initializer.library.function)
    if not isinstance(signature, dict):
        return signature
    inputs = {name: each for name, each in _entries(signature, "inputs").items() if reference(str(each.get("name")))[0] not in placeholders}
    return cast("dict[str, Any]", signature) | {"inputs": inputs}


def _rename_operands(node: Any, names: Mapping[str, str]) -> None:
    for index, operand in enumerate(node.input):
        mark = "^" if operand.startswith("^") else ""
        name, separator, number = operand.removeprefix("^").partition(":")
        if name in names and names[name] != name:
            node.input[index] = f"{mark}{names[name]}{separator}{number}"
