"""MXNet models for tests: their two files, and their conversion."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import openvino

import moir
from moir.dialects.element_types import from_numpy
from moir.frontends.mxnet.ndarrays import ELEMENTS, LIST_MAGIC
from tests.numerical.runtime import Array, core

NUMBERS = {element: number for number, element in ELEMENTS.items()}


def array_bytes(array: Array, version: int = 2) -> bytes:
    """An NDArray as a version of MXNet writes it: 0 before 0.10, 1 before 0.12, 2 since then, 3 of the numpy kind."""
    rank, context = len(array.shape), struct.pack("<iii", 1, 0, NUMBERS[from_numpy(array.dtype)])
    if version == 0:
        head = struct.pack(f"<I{rank}I", rank, *array.shape)
    elif version == 1:
        head = struct.pack(f"<II{rank}q", 0xF993FAC8, rank, *array.shape)
    else:
        head = struct.pack(f"<Iii{rank}q", 0xF993FAC7 + version, 0, rank, *array.shape)
    return head + context + array.tobytes()


def parameters(arrays: Mapping[str, Array], version: int = 2) -> bytes:
    """A file of NDArrays."""
    names = [struct.pack("<Q", len(name.encode())) + name.encode() for name in arrays]
    content = [array_bytes(np.ascontiguousarray(array), version) for array in arrays.values()]
    return b"".join([struct.pack("<QQQ", LIST_MAGIC, 0, len(arrays)), *content, struct.pack("<Q", len(arrays)), *names])


def write(folder: Path, symbol: Mapping[str, Any], arrays: Mapping[str, Array], version: int = 2) -> Path:
    """Write a model; returns the path of the symbol."""
    path = folder / "net-symbol.json"
    path.write_text(json.dumps(symbol))
    (folder / "net-0000.params").write_bytes(parameters({f"arg:{name}": array for name, array in arrays.items()}, version))
    return path


def converted(path: Path) -> openvino.Model:
    """The model that moir makes of a symbol, as the runtime sees it."""
    return moir.to_openvino(moir.convert_model(path))


def results(model: openvino.Model, inputs: Mapping[str, Array]) -> dict[str, Array]:
    """The results of a model in the runtime, by all names of its outputs."""
    compiled = core().compile_model(model, "CPU")
    outputs = compiled(dict(inputs))
    return {name: np.array(outputs[output]) for output in compiled.outputs for name in output.names}
