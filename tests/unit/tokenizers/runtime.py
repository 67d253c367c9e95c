"""Tokenizers in OpenVINO Runtime, which knows their operations by the package openvino_tokenizers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import openvino
import pytest
from xdsl.dialects.builtin import ModuleOp

from moir.emit import write_model


@cache
def core() -> openvino.Core:
    """A runtime that knows the operations of OpenVINO Tokenizers."""
    spec = find_spec("openvino_tokenizers")
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("OpenVINO Tokenizers is not installed")
    [library] = Path(spec.submodule_search_locations[0], "lib").glob("*openvino_tokenizers.*")
    core = openvino.Core()
    core.add_extension(str(library))
    return core


def compiled(module: ModuleOp, path: Path) -> openvino.CompiledModel:
    """A module in the runtime."""
    write_model(module, str(path))
    return core().compile_model(str(path), "CPU")


def ids_of(module: ModuleOp, texts: Iterable[str], folder: Path) -> dict[str, list[int]]:
    """The ids of each text alone."""
    model = compiled(module, folder / "tokenizer.xml")
    return {text: model(openvino.Tensor(np.array([text])))["input_ids"][0].tolist() for text in texts}


def texts_of(module: ModuleOp, rows: Iterable[Sequence[int]], folder: Path) -> list[str]:
    """The text of each row of ids."""
    model = compiled(module, folder / "detokenizer.xml")
    return [model(np.array([row]))["string_output"][0] for row in rows]
