"""SavedModel folders -> module: those of TensorFlow 1, TensorFlow 2 and Keras.

    saved_model.pb            graphs with their functions, signatures and tags
    variables/variables.*     the checkpoint
    assets/*                  vocabularies

Source: saved_model.proto and meta_graph.proto of TensorFlow 2.21, and https://www.tensorflow.org/guide/saved_model
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from moir.errors import ModelFileError
from moir.frontends.tensorflow.checkpoint.bundle import find_checkpoint
from moir.frontends.tensorflow.meta_graph import import_resolved, meta_graph_resources
from moir.frontends.tensorflow.object_functions import declared_function
from moir.frontends.tensorflow.reading import SAVED_MODEL_NAMES, ModelFile, read_file
from moir.frontends.tensorflow.references import Tensor
from moir.frontends.tensorflow.signatures import (
    Signature,
    choose_meta_graph,
    choose_signature,
    has_only_a_graph,
    has_signatures,
)
from moir.frontends.tensorflow.state.assets import Assets
from moir.frontends.tensorflow.wire_schema import SAVED_MODEL_FORMAT

_UNTRACKED_HINT = (
    "make it an attribute of the object that is saved, or of one of its layers, and export again; a Keras 3 model with model.export(folder)"
)


def read_saved_model(
    path: Path, tags: Sequence[str] | None = None, signature: str | None = None, wanted: Sequence[Tensor] = ()
) -> ModuleOp:
    """Read a SavedModel.

    Args:
        path: the folder, or the file `saved_model.pb` in it.
        tags: tags of the graph; None for `serve`, or the only graph in the file.
        signature: name of the signature; None for `serving_default`, the only signature of the graph, or, in a graph
            without one, the placeholders and the nodes without uses.
        wanted: see `read_model`.

    Returns a module with one `moir.model`, whose inputs and outputs have the names of the signature. Raises
    ModelFileError if a file is missing, damaged or a link out of the folder, or there is no such graph or signature.
    """
    file = read_file(_file(path), SAVED_MODEL_FORMAT, path if path.is_dir() else None)
    folder = file.path.parent
    chosen = choose_meta_graph(file.message.meta_graphs, tags, file.path)
    is_graph = signature is None and has_only_a_graph(chosen)
    inputs_and_outputs = None if is_graph else _inputs_and_outputs(chosen, signature, file.path)
    bundle = find_checkpoint(folder / "variables" / "variables", file.path)
    resources = meta_graph_resources(chosen, file.tensors, file.path, bundle, Assets(file.path, folder / "assets"))
    graph = ModelFile(file.path, chosen.graph_def, file.tensors)
    hint = "copy the folder variables of the model" if bundle is None else _UNTRACKED_HINT
    return import_resolved(graph, resources, folder.absolute().name, inputs_and_outputs, hint, wanted)


def _inputs_and_outputs(meta_graph: Any, name: str | None, path: Path) -> Signature:
    """The inputs and outputs of signature `name`, or of that function of the saved object if the model has no
    signature.

    None for the name chooses the usual one, see `choose_signature` and `declared_function`.
    """
    if has_signatures(meta_graph) or not meta_graph.object_graph_def.concrete_functions:
        return choose_signature(meta_graph, name, path)
    return declared_function(meta_graph, name, path)


def _file(path: Path) -> Path:
    """The file of a SavedModel. Raises ModelFileError if a folder has none."""
    if not path.is_dir():
        return path
    for name in SAVED_MODEL_NAMES:
        if (path / name).exists():
            return path / name
    below = sorted(inner.parent.name for name in SAVED_MODEL_NAMES for inner in path.glob(f"*/{name}"))
    hint = f"there are SavedModels in {', '.join(below[:4])}" if below else None
    raise ModelFileError(f"no SavedModel: the folder has no {SAVED_MODEL_NAMES[0]}", location=str(path), hint=hint)
