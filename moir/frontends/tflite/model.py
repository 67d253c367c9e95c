"""TensorFlow Lite model, a `.tflite` -> module in the `tflite` dialect."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from moir.dialects.module import Module
from moir.dialects.moir import ModelOp, add_notes
from moir.errors import ModelFileError
from moir.frontends.tflite.flatbuffer import ModelFile, text
from moir.frontends.tflite.graph import ModelImporter

MAIN = 0
"""The subgraph that is the model."""


def read_model(path: str | Path) -> ModuleOp:
    """Read a TensorFlow Lite model: the first subgraph, with the names of its signature.

    Args:
        path: the `.tflite`.

    Returns a module with one `moir.model`. Raises ModelFileError for a file that is damaged or no model.
    """
    file = ModelFile(Path(path))
    try:
        with file.damage("a table"):
            importer = ModelImporter(file, *_signature_names(file))
            block = importer.block(MAIN)
    except ModelFileError as error:
        if error.location is None:
            error.location = str(path)
        raise
    model = ModelOp.of(Path(path).stem or "model", block)
    if kept := importer.resources.kept:
        add_notes(model, [f"the model has a state, which an infer request keeps until reset_state(): {', '.join(kept)}"])
    if others := _other_signatures(file):
        add_notes(model, [f"the signature of the first subgraph is converted, and not {', '.join(others)}"])
    return Module([model])


def _other_signatures(file: ModelFile) -> list[str]:
    """The names of the signatures of other subgraphs."""
    with file.damage("a signature"):
        return [repr(text(each.SignatureKey())) for each in file.signatures if each.SubgraphIndex() != MAIN]


def _signature_names(file: ModelFile) -> tuple[dict[int, list[str]], dict[int, list[str]]]:
    """The names that the first signature of the model gives inputs and outputs, by the numbers of their tensors."""
    inputs: dict[int, list[str]] = {}
    outputs: dict[int, list[str]] = {}
    with file.damage("a signature"):
        for signature in file.signatures:
            if signature.SubgraphIndex() != MAIN:
                continue
            for names, entries in (
                (inputs, file.listed(signature.InputsLength(), signature.Inputs)),
                (outputs, file.listed(signature.OutputsLength(), signature.Outputs)),
            ):
                for entry in entries:
                    names.setdefault(entry.TensorIndex(), []).append(text(entry.Name()))
            break
    return inputs, outputs
