"""Small models, their conversion with an extension, and what OpenVINO Runtime computes with the IR."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import openvino
from onnx import TensorProto, helper

from moir.conversion import save_model
from moir.interface import convert_model


def onnx_model(path: Path, nodes: list[onnx.NodeProto], inputs: dict[str, list[int]], outputs: list[str]) -> Path:
    """A file with an ONNX model of floats, of a version in which axes are attributes."""
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
    )
    path /= "model.onnx"
    path.write_bytes(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 12)], ir_version=9).SerializeToString())
    return path


def tf_model(path: Path, text: str) -> Path:
    """A file with a TensorFlow graph."""
    path /= "model.pbtxt"
    path.write_text(text, encoding="utf-8")
    return path


def converted(model: Path, extension: Path, **options: Any) -> tuple[str, Path]:
    """The kinds of operations of the IR, and its path."""
    module = convert_model(model, extensions=[str(extension)], **options)
    path = model.with_suffix(".xml")
    save_model(module, path)
    return " ".join(re.findall(r'<layer [^>]*type="(\w+)"', path.read_text())), path


def results(path: Path, **inputs: np.ndarray) -> list[np.ndarray]:
    """What the runtime computes."""
    core = openvino.Core()
    return [np.array(value) for value in core.compile_model(core.read_model(path), "CPU")(inputs).values()]
