"""A user's IR loads, or a note of the conversion says what it needs to be loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import core

Nodes = Sequence[onnx.NodeProto]


def notes(source: Path) -> list[str]:
    [model] = models_of(module := moir.convert_model(source))
    moir.save_model(module, source.with_suffix(".xml"))
    result = model.attributes.get(ModuleLevel.NOTES)
    return [] if result is None else value_of(result)


def saved(folder: Path, nodes: Nodes, shape: Sequence[int | str] | None) -> Path:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    graph = helper.make_graph(nodes, "g", inputs, [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def test_an_input_of_unknown_rank(tmp_path: Path) -> None:
    path = saved(tmp_path, [node("Relu", ["x"], ["y"])], None)
    assert any("will not load until the rank of 'x' is known" in note for note in notes(path))
    model = core().read_model(path.with_suffix(".xml"))
    with pytest.raises(RuntimeError):
        core().compile_model(model, "CPU")
    model.reshape([-1, 4])
    core().compile_model(model, "CPU")


def test_ranks_that_shapes_decide(tmp_path: Path) -> None:
    """Which of two ranks a branch has depends on a size; neither reader nor declared output says it."""
    then = helper.make_graph([node("Flatten", ["x"], ["t"])], "t", [], [helper.make_empty_tensor_value_info("t")])
    other = helper.make_graph([node("Neg", ["x"], ["e"])], "e", [], [helper.make_empty_tensor_value_info("e")])
    nodes = [
        node("Size", ["x"], ["size"]),
        node("Constant", [], ["limit"], value_int=9),
        node("Less", ["size", "limit"], ["c"]),
        node("If", ["c"], ["y"], name="choice", then_branch=then, else_branch=other),
    ]
    path = saved(tmp_path, nodes, ["a", "b", "c"])
    assert any("will not load until the rank of what opset8.If 'choice' computes is known" in note for note in notes(path))


def test_a_model_that_loads(tmp_path: Path) -> None:
    path = saved(tmp_path, [node("Relu", ["x"], ["y"])], ["a", "b"])
    assert notes(path) == []
    core().compile_model(path.with_suffix(".xml"), "CPU")
