"""The check of ONNX nodes against the table of their kinds: number of operands, names of attributes, and the table."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto, helper

from moir import read_model
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.errors import ModelFileError
from moir.frontends.onnx.definition_table import DEFINITIONS
from moir.frontends.onnx.definitions import definition_of
from scripts.onnx_definitions import table


def write(folder: Path, node: object) -> Path:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    graph = helper.make_graph([node], "m", [x], [helper.make_empty_tensor_value_info("y")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18), helper.make_opsetid("own", 1)], ir_version=9)
    path = folder / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def test_the_table_is_that_of_onnx() -> None:
    assert table() == DEFINITIONS


def test_surplus_operands(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"onnx\.Relu 'y': it has 2 operands, its kind has at most 1"):
        read_model(write(tmp_path, helper.make_node("Relu", ["x", "x"], ["y"])))
    read_model(write(tmp_path, helper.make_node("Concat", ["x"] * 5, ["y"], axis=0)))
    read_model(write(tmp_path, helper.make_node("Relu", ["x", "x"], ["y"], domain="own")))


def test_unknown_attributes(tmp_path: Path) -> None:
    module = read_model(write(tmp_path, helper.make_node("Relu", ["x"], ["y"], slope=1.0)))
    assert value_of(models_of(module)[0].attributes[ModuleLevel.NOTES]) == (
        "onnx.Relu 'y': its kind has no attribute 'slope', which is ignored",
    )
    for node in (helper.make_node("Relu", ["x"], ["y"], consumed_inputs=[0]), helper.make_node("Relu", ["x"], ["y"], domain="own", a=1)):
        module = read_model(write(tmp_path, node))
        assert ModuleLevel.NOTES not in models_of(module)[0].attributes


def test_kinds() -> None:
    concat, relu = definition_of("Concat"), definition_of("Relu")
    assert concat is not None
    assert relu is not None
    assert (concat.operands, relu.operands) == (None, 1)
    assert definition_of("own.Relu") is None
