"""A graph with its variables, tables and assets -> module: from a SavedModel, or a TF1 `.meta` file with a checkpoint.

Before the import, the restore operation and the initialization operations of the graph are executed symbolically
(`execution.py`), which gives each variable its tensor in the checkpoint, and each hash table its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from moir.frontends.tensorflow.checkpoint.bundle import Bundle, find_checkpoint, open_checkpoint
from moir.frontends.tensorflow.execution import Execution
from moir.frontends.tensorflow.graph import GraphImporter
from moir.frontends.tensorflow.messages import parse
from moir.frontends.tensorflow.model_outputs import declare_outputs
from moir.frontends.tensorflow.reading import ModelFile, read_file
from moir.frontends.tensorflow.references import Tensor, reference
from moir.frontends.tensorflow.signatures import Signature, choose_signature
from moir.frontends.tensorflow.state.assets import Assets
from moir.frontends.tensorflow.state.captures import captured_keys
from moir.frontends.tensorflow.state.resources import Resources, Variables, check_values, graph_resources, table_contents
from moir.frontends.tensorflow.tensors import TensorReader
from moir.frontends.tensorflow.wire_schema import META_GRAPH_FORMAT

_INITIALIZATION_COLLECTIONS = ("saved_model_main_op", "legacy_init_op")
_INITIALIZATION_SIGNATURE = "__saved_model_init_op"
_ASSET_COLLECTION = "saved_model_assets"
_CHECKPOINT_HINT = "give the checkpoint of the model: --checkpoint PREFIX"


def read_meta_graph(
    path: Path, checkpoint: str | Path | None = None, signature: str | None = None, wanted: Sequence[Tensor] = ()
) -> ModuleOp:
    """Read a MetaGraphDef.

    Args:
        path: the file.
        checkpoint: prefix of its checkpoint; None for the checkpoint beside the file, if there is one.
        signature: name of the signature with the inputs and outputs; None for the placeholders, and the nodes without
            uses.
        wanted: see `read_model`.

    Raises ModelFileError if a file is damaged, or a variable that is read has no value.
    """
    file = read_file(path, META_GRAPH_FORMAT)
    bundle = find_checkpoint(path.with_suffix(""), path) if checkpoint is None else open_checkpoint(Path(checkpoint))
    resources = meta_graph_resources(file.message, file.tensors, path, bundle, Assets(path, path.parent))
    chosen = None if signature is None else choose_signature(file.message, signature, path)
    return import_resolved(ModelFile(path, file.message.graph_def, file.tensors), resources, path.stem, chosen, wanted=wanted)


def import_graph(file: ModelFile, checkpoint: Path | None = None, wanted: Sequence[Tensor] = ()) -> ModuleOp:
    """The module of a GraphDef.

    Args:
        file: the GraphDef.
        checkpoint: prefix of its checkpoint, or one of its files.
        wanted: see `read_model`.

    Raises ModelFileError if a file is damaged, or a variable that is read has no value.
    """
    resources = graph_resources(file.message, file.tensors, file.path, checkpoint)
    return import_resolved(file, resources, file.path.stem, None, wanted=wanted)


def import_resolved(
    file: ModelFile,
    resources: Resources,
    name: str,
    signature: Signature | None,
    hint: str = _CHECKPOINT_HINT,
    wanted: Sequence[Tensor] = (),
) -> ModuleOp:
    """The module of a graph, given the values of its variables and hash tables.

    Args:
        file: the GraphDef.
        resources: values of its variables and tables.
        name: name of the model.
        signature: its inputs and outputs, if they are declared.
        hint: for messages: the user's remedy for a variable without a value.
        wanted: see `read_model`.

    Raises ModelFileError if an output depends on a variable that has no value, or that is written in no certain order.
    """
    graph = file.message
    importer = GraphImporter(file.path, graph, file.tensors, resources.variables, resources.tables)
    if signature is None:
        module = importer.module(name, wanted=wanted)
    else:
        module = importer.module(name, signature.inputs, signature.outputs)
        declare_outputs(module, signature.output_types)
    check_values(module, hint)
    return module


def meta_graph_resources(message: Any, tensors: TensorReader, path: Path, bundle: Bundle | None, assets: Assets) -> Resources:
    """The variables and hash tables of a MetaGraphDef.

    Args:
        message: the MetaGraphDef.
        tensors: reads its tensors.
        path: the file, for messages.
        bundle: the checkpoint, if there is one.
        assets: the files that the graph may refer to.

    Raises ModelFileError if the checkpoint or an asset is damaged.
    """
    graph = message.graph_def
    captured = captured_keys(message, bundle)
    execution = Execution(graph, tensors.read, _asset_names(message, path), assets.open)
    if message.saver_def.restore_op_name:
        execution.run([message.saver_def.restore_op_name])
    execution.run(_initializers(message) or execution.table_initializers())
    return Resources(Variables(graph, execution, bundle, captured), table_contents(graph, execution, bundle))


def _asset_names(message: Any, path: Path) -> dict[str, str]:
    """The path of each asset, by the name of the node that holds it."""
    assets = list(message.asset_file_def)
    if _ASSET_COLLECTION in message.collection_def:
        assets += [
            parse("AssetFileDef", item.value, path, "the list of assets")
            for item in message.collection_def[_ASSET_COLLECTION].any_list.value
        ]
    return {reference(asset.tensor_info.name)[0]: asset.filename for asset in assets}


def _initializers(message: Any) -> list[str]:
    """The names of the operations that initialize the model when it is loaded."""
    collections, signatures = message.collection_def, message.signature_def
    names = [name for key in _INITIALIZATION_COLLECTIONS if key in collections for name in collections[key].node_list.value]
    if _INITIALIZATION_SIGNATURE in signatures:
        names += [info.name for info in signatures[_INITIALIZATION_SIGNATURE].outputs.values()]
    return list(dict.fromkeys(names))
