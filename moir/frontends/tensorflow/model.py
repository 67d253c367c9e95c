"""TensorFlow model -> module in the `tf` dialect, for every kind of file and folder that TensorFlow saves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.errors import ConversionError
from moir.files.json_texts import BINARY_GRAPH, MANIFEST, MODEL_JSON, begins_object, read_json_model
from moir.files.recognition import beginning_of, beside
from moir.frontends.tensorflow.reading import SAVED_MODEL_NAMES, format_of, read_file
from moir.frontends.tensorflow.references import Tensor
from moir.frontends.tensorflow.state.nodes import has_resources
from moir.frontends.tensorflow.wire_schema import META_GRAPH_FORMAT, SAVED_MODEL_FORMAT


def read_model(
    path: str | Path,
    checkpoint: str | Path | None = None,
    tags: Sequence[str] | None = None,
    signature: str | None = None,
    wanted: Sequence[Tensor] = (),
) -> ModuleOp:
    """Read a TensorFlow model.

    Args:
        path: a GraphDef, a MetaGraphDef, or the folder or the file of a SavedModel, in binary or text format; the
            `model.json` of a graph model of TensorFlow.js, or its folder; or the common beginning of the names of a
            checkpoint's files, one of which is a MetaGraphDef (`.meta`).
        checkpoint: path, without `.index`, of a checkpoint with the values of variables; for graphs that are not
            frozen.
        tags: tags of the graph of a SavedModel.
        signature: signature of a SavedModel.
        wanted: tensors that the user may mean as outputs: those that a graph without signature has are outputs, too.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged, inconsistent or not a
    TensorFlow model, and ConversionError for an option that does not apply to this kind of model.
    """
    path = Path(path)
    if not path.exists() and (meta := beside(path, ".meta")).is_file():
        path = meta
    if (file_of_folder := path / MODEL_JSON).is_file() and not any((path / name).exists() for name in SAVED_MODEL_NAMES):
        path = file_of_folder
    if path.is_file() and begins_object(beginning_of(path)) and (described := read_json_model(path)) is not None:
        from moir.frontends.tensorflow.graph_model import read_graph_model

        if checkpoint is not None or tags is not None:
            option = "checkpoint" if checkpoint is not None else "tags"
            raise ConversionError(f"a graph model of TensorFlow.js has no {option}", location=str(path), hint=f"leave out the {option}")
        return read_graph_model(path, described[1], signature, tuple(wanted))
    format = SAVED_MODEL_FORMAT if path.is_dir() else format_of(path)
    if format is SAVED_MODEL_FORMAT:
        from moir.frontends.tensorflow.saved_model import read_saved_model

        if checkpoint is not None:
            raise ConversionError("a SavedModel has its own checkpoint", location=str(path), hint="leave out the checkpoint")
        return read_saved_model(path, tags=tags, signature=signature, wanted=wanted)
    if format is META_GRAPH_FORMAT:
        from moir.frontends.tensorflow.meta_graph import read_meta_graph

        return read_meta_graph(path, checkpoint=checkpoint, signature=signature, wanted=wanted)
    if tags is not None or signature is not None:
        option = "tags" if tags is not None else "signature"
        raise ConversionError(f"a graph has no {option}", location=str(path), hint="SavedModels do; pass the folder of one")
    file = read_file(path, format)
    if (path.parent / MANIFEST).exists() or path.name == BINARY_GRAPH:
        from moir.frontends.tensorflow.graph_model import binary_graph

        file = binary_graph(file)
    if checkpoint is None and not has_resources(file.message):
        from moir.frontends.tensorflow.graph import GraphImporter

        return GraphImporter(path, file.message, file.tensors).module(path.stem, wanted=wanted)
    from moir.frontends.tensorflow.meta_graph import import_graph

    return import_graph(file, None if checkpoint is None else Path(checkpoint), wanted)
