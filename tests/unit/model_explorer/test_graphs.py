"""Graphs for Model Explorer: nodes with layers, edges and types, a graph for each body, and the extension."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from moir.tools.convert import main

TEXT = """
builtin.module {
  moir.model @m {
    %x = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<2x3xf32>
    %0 = opset1.Constant() {value = #moir.data<tensor<3x4xf32>, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]>} : tensor<3x4xf32>
    %1 = opset1.MatMul(%x, %0) {transpose_a = false, transpose_b = false, name = "encoder/fc/MatMul"} : tensor<2x4xf32>
    %2 = opset1.TensorIterator(%1) {name = "loop", inputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>],
        outputs = [#moir.port<0 axis 0 from 0 to -1 stride 1 part 1>]} ({
      %a = opset1.Parameter() : tensor<1x4xf32>
      %b = opset1.Relu(%a) {name = "inner"} : tensor<1x4xf32>
      opset1.Result(%b)
    }) : tensor<2x4xf32>
    opset1.Result(%2) {name = "y"}
  }
}
"""


def drawn(folder: Path) -> dict[str, Any]:
    (folder / "m.mlir").write_text(TEXT, "utf-8")
    assert main(["view", str(folder / "m.mlir"), "-o", str(folder / "out" / "m.json")]) == 0
    return json.loads((folder / "out" / "m.json").read_bytes())


def test_graphs_of_a_model_and_its_bodies(tmp_path: Path) -> None:
    content = drawn(tmp_path)
    model, body = content["graphs"]
    assert (content["label"], model["id"], body["id"]) == ("m.mlir", "m", "m/loop")
    nodes = {each["label"]: each for each in model["nodes"]}
    product = nodes["MatMul"]
    assert product["namespace"] == "encoder/fc"
    sources = [(edge["sourceNodeId"], edge["sourceNodeOutputId"], edge["targetNodeInputId"]) for edge in product["incomingEdges"]]
    assert sources == [(nodes["Parameter"]["id"], "0", "0"), (nodes["Constant"]["id"], "0", "1")]
    assert product["outputsMetadata"] == [{"id": "0", "attrs": [{"key": "tensor_shape", "value": "2x4xf32"}]}]
    assert {"key": "transpose_b", "value": "false"} in product["attrs"]
    assert {"key": "operation", "value": "opset1.MatMul"} in product["attrs"]
    assert nodes["TensorIterator"]["subgraphIds"] == ["m/loop"]
    assert [each["label"] for each in body["nodes"]] == ["Parameter", "Relu", "Result"]


def test_a_file_of_another_kind_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.mlir").write_text(TEXT, "utf-8")
    (tmp_path / "m.json").write_text('{"other": 1}', "utf-8")
    assert main(["view", str(tmp_path / "m.mlir"), "-o", str(tmp_path / "m.json")]) == 1
    assert "the file would be overwritten, but it is not a file of Model Explorer" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "m.mlir"), "-o", str(tmp_path / "n.json"), "--open"]) == 2
    assert "open the graphs by: model-explorer" in capsys.readouterr().err


@dataclass
class _Metadata:
    id: str
    name: str
    description: str
    fileExts: list[str]


def test_the_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a module in place of Model Explorer, which takes the graphs by `asdict`."""
    explorer = ModuleType("model_explorer")
    vars(explorer).update(Adapter=type("Adapter", (), {}), AdapterMetadata=_Metadata)
    monkeypatch.setitem(sys.modules, "model_explorer", explorer)
    monkeypatch.delitem(sys.modules, "moir.model_explorer.main", raising=False)
    extension = import_module("moir.model_explorer.main")
    assert {"mlir", "onnx", "xml", "tflite"} <= set(extension.MoirAdapter.metadata.fileExts)
    expected = drawn(tmp_path)["graphs"]
    graphs = extension.MoirAdapter().convert(str(tmp_path / "m.mlir"), {})["graphs"]
    assert [asdict(each) for each in graphs] == expected
