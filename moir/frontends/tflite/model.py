"""TensorFlow Lite model, a `.tflite` -> module in the `tflite` dialect."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, add_notes
from moir.errors import ModelFileError
from moir.frontends.tflite.containers import opened_model
from moir.frontends.tflite.graph import block_of
from moir.frontends.tflite.parts import ModelParts
from moir.frontends.tflite.schema_modules import imported_one_by_one
from moir.frontends.tflite.signatures import chosen_signature


def read_model(path: str | Path, signature: str | None = None) -> ModuleOp:
    """Read a TensorFlow Lite model: the subgraph of a signature, with its names.

    Args:
        path: the `.tflite`, or a container `.litertlm`.
        signature: the name of the signature; None for that of the first subgraph. For a container also the name of a
            model in it.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged or not a model, UsageError
    if there is no signature of that name.
    """
    with imported_one_by_one():
        return _read(path, signature)


def _read(path: str | Path, signature: str | None) -> ModuleOp:
    file, signature = opened_model(Path(path), signature)
    try:
        with file.damage("a table"):
            chosen = chosen_signature(file, signature)
            parts = ModelParts(file, chosen.inputs, chosen.outputs)
            block = block_of(parts, chosen.subgraph)
    except ModelFileError as error:
        if error.location is None:
            error.location = str(path)
        raise
    model = ModelOp.of(Path(path).stem or "model", block)
    if kept := parts.resources.kept:
        add_notes(model, [f"the model has a state, which an infer request keeps until reset_state(): {', '.join(kept)}"])
    if chosen.others and signature is None:
        others = ", ".join(repr(each) for each in chosen.others)
        add_notes(model, [f"the signature of the first subgraph is converted, and not {others}; --signature chooses one"])
    return Module([model])
