"""Parts of models as files."""

from __future__ import annotations

from pathlib import Path

from moir.reduction.reduced import Candidate
from moir.tools.model_input import write_arrays, write_text
from moir.tools.output import replacing_file


def write_candidate(candidate: Candidate, stem: Path) -> Path:
    """Write a part of a model, and beside it what its tensors were in the whole one.

    Args:
        candidate: the part.
        stem: the path without a suffix.

    Returns the path of the model: `.onnx`, or `.mlir` with its weights in `.bin`. The inputs are in `-inputs.npz`, the
    outputs, where they are known, in `-reference.npz`.
    """
    write_arrays(candidate.inputs, stem.with_name(f"{stem.name}-inputs.npz"))
    if candidate.expected:
        write_arrays(candidate.expected, stem.with_name(f"{stem.name}-reference.npz"))
    if isinstance(candidate.model, bytes):
        path = stem.with_suffix(".onnx")
        with replacing_file(path) as file:
            file.write(candidate.model)
        return path
    path = stem.with_suffix(".mlir")
    write_text(candidate.model, path)
    return path
