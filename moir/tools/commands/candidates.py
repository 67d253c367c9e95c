"""Modules and parts of models as files."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from moir.files.output import ONNX_FILE, TEXT_FILE, WEIGHTS_FILE, replacing_file
from moir.reduction.reduced import Candidate
from moir.tools.arrays import write_arrays
from moir.tools.optimizer.text import print_module
from moir.tools.optimizer.weights_file import WeightsWriter

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def write_candidate(candidate: Candidate, stem: Path) -> Path:
    """Write a part of a model, and beside it the values of its tensors in the whole model.

    Args:
        candidate: the part.
        stem: the path without a suffix.

    Returns the path of the model: `.onnx`, or `.mlir` with its weights in `.bin`. The inputs are in `-inputs.npz`; the
    outputs, if they are known, are in `-reference.npz`.
    """
    write_arrays(candidate.inputs, stem.with_name(f"{stem.name}-inputs.npz"))
    if candidate.expected:
        write_arrays(candidate.expected, stem.with_name(f"{stem.name}-reference.npz"))
    if isinstance(candidate.model, bytes):
        path = stem.with_suffix(".onnx")
        with replacing_file(path, ONNX_FILE) as file:
            file.write(candidate.model)
        return path
    path = stem.with_suffix(".mlir")
    write_text(candidate.model, path)
    return path


def write_text(module: ModuleOp, path: Path) -> None:
    """Write a module as text, with its weights beside it, in a file of the same name that ends in `.bin`."""
    with replacing_file(path.with_suffix(".bin"), WEIGHTS_FILE) as weights, replacing_file(path, TEXT_FILE) as file:
        text = StringIO()
        print_module(module, text, WeightsWriter(weights, path.with_suffix(".bin").name))
        file.write(text.getvalue().encode())
