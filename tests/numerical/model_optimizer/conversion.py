"""Converting small models with extensions written for Model Optimizer's API, and looking at what comes out.

converted = Converted.of(onnx_model(...), tmp_path, extensions=[EXAMPLES / "pack"])
converted.attributes("Concat"), converted.run({"x": x})
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import onnx
import openvino

from moir.conversion import save_model
from moir.interface import convert_model
from tests.numerical.onnx.conversion import build, node
from tests.numerical.runtime import Array, core
from tests.numerical.runtime import run as run_model

EXAMPLES = Path(__file__).resolve().parents[2] / "fixtures" / "model_optimizer"


def write(directory: Path, files: Mapping[str, str]) -> Path:
    """An extension directory with these files."""
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))
    return directory


def saved(model: onnx.ModelProto | Any, directory: Path) -> Path:
    """The file of an ONNX model or of a TensorFlow graph."""
    path = directory / ("model.onnx" if isinstance(model, onnx.ModelProto) else "model.pb")
    message = model if isinstance(model, onnx.ModelProto) else model.as_graph_def()
    path.write_bytes(message.SerializeToString())
    return path


@dataclass(frozen=True)
class Converted:
    """An IR: its file, and the layers in it."""

    path: Path
    layers: list[ElementTree.Element]

    @classmethod
    def of(cls, model: Any, directory: Path, **options: Any) -> Converted:
        """Convert a model with the options of `convert_model` and write its IR into a directory."""
        path = directory / "converted.xml"
        save_model(convert_model(saved(model, directory), **options), path)
        return cls(path, list(ElementTree.parse(path).getroot().iter("layer")))

    @property
    def types(self) -> list[str]:
        """The types of the layers, sorted, without constants, inputs and outputs."""
        return sorted(kind for layer in self.layers if (kind := layer.get("type", "")) not in ("Const", "Parameter", "Result"))

    def all(self, type_: str) -> list[ElementTree.Element]:
        """The layers of a type."""
        return [layer for layer in self.layers if layer.get("type") == type_]

    def layer(self, type_: str) -> ElementTree.Element:
        """The only layer of a type."""
        (result,) = self.all(type_)
        return result

    def names(self, type_: str) -> list[str | None]:
        """The names of the layers of a type."""
        return [layer.get("name") for layer in self.all(type_)]

    def attributes(self, type_: str) -> dict[str, str]:
        """What the IR says of the only layer of a type."""
        data = self.layer(type_).find("data")
        return {} if data is None else dict(data.attrib)

    def shape(self, type_: str) -> list[int]:
        """The shape of output 0 of the only layer of a type."""
        port = self.layer(type_).find("output/port")
        assert port is not None
        return [int(dim.text or "") for dim in port.findall("dim")]

    @property
    def model(self) -> openvino.Model:
        """The model as the runtime reads it."""
        return core().read_model(self.path)

    def run(self, inputs: Mapping[str, Array], names: Sequence[str] | None = None) -> list[Array]:
        """What the runtime computes, in the order of the outputs or of the names of their tensors."""
        model = self.model
        result = run_model(model, inputs)
        if names is None:
            return result
        return [result[next(index for index, output in enumerate(model.outputs) if name in output.get_names())] for name in names]


X = np.random.default_rng(7).normal(size=(2, 3, 4)).astype(np.float32)
RELU = [node("Relu", ["x"], ["y"], "relu")]


def convert(directory: Path, files: dict[str, str], nodes, inputs: dict[str, Array] | None = None, **options) -> Converted:
    """Convert a small ONNX model with an extension of these files."""
    extension = write(directory / "my_extension", files)
    build_options = {name: options.pop(name) for name in ("constants", "outputs") if name in options}
    model = build(nodes, inputs or {"x": X}, **build_options)
    return Converted.of(model, directory, extensions=[extension], **options)


def appending(name: str, further: str = "", base: str = "Front") -> str:
    """A transformation that appends its name to that of the node."""
    module = {"Front": "mo.front.common.replacement", "Middle": "mo.middle.replacement", "Back": "mo.back.replacement"}[base]
    lines = "\n".join(f"                {line}" for line in further.splitlines())
    return f"""
            from {module} import {base}ReplacementPattern

            class {name}({base}ReplacementPattern):
{lines or "                pass"}

                def find_and_replace_pattern(self, graph):
                    for node in graph.get_op_nodes(op='ReLU'):
                        node['name'] = node.name + '.' + '{name}'
        """
