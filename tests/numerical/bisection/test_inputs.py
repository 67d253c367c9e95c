"""Inputs of a run: values that `--input` freezes, and random integers in ranges that follow from use or are given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from moir.errors import UsageError
from moir.execution.integer_ranges import ranges_by_use
from moir.frontends.onnx import read_model
from moir.tools.convert import main

Model = Mapping[str, tuple[int, Sequence[int | str]]]


def save(path: Path, nodes: list[onnx.NodeProto], inputs: Model, constants: Mapping[str, np.ndarray] | None = None) -> Path:
    """Write a model with the output y."""
    ports = [helper.make_tensor_value_info(name, element, list(shape)) for name, (element, shape) in inputs.items()]
    values = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    graph = helper.make_graph(nodes, "g", ports, [helper.make_empty_tensor_value_info("y")], values)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.fixture
def scaled(tmp_path: Path) -> Path:
    """y = x · n."""
    nodes = [helper.make_node("Cast", ["n"], ["c"], to=TensorProto.FLOAT), helper.make_node("Mul", ["x", "c"], ["y"])]
    return save(tmp_path / "scaled.onnx", nodes, {"x": (TensorProto.FLOAT, [2]), "n": (TensorProto.INT64, [])})


@pytest.mark.parametrize("runtime", ["framework", "openvino", "definitions"])
def test_a_frozen_input_has_its_value(scaled: Path, runtime: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "x.npz", x=np.array([1, 2], np.float32))
    arguments = ["--input", "x[2],n->3", "--runtime", runtime, "--outputs", str(tmp_path / "y.npz")]
    assert main(["run", str(scaled), *arguments, "--inputs", str(tmp_path / "x.npz")]) == 0
    assert np.load(tmp_path / "y.npz")["y"].tolist() == [3, 6]
    assert main(["run", str(scaled), *arguments]) == 0
    assert "input       x: f32[2], -0.132105 … 0.12573" in capsys.readouterr().out


def test_a_frozen_input_of_several_elements(tmp_path: Path) -> None:
    inputs: Model = {"x": (TensorProto.FLOAT, [2]), "n": (TensorProto.FLOAT, [2])}
    path = save(tmp_path / "sum.onnx", [helper.make_node("Mul", ["x", "n"], ["y"])], inputs)
    result = moir.run(path, {"x": np.array([1, 2], np.float32)}, input="x,n->[3 4]", runtime="framework")
    assert result["y"].tolist() == [3, 8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,m->3", "the model has no input 'm'"),
        ("x,n->[1 2 3]", "does not fit to the input n"),
        ("x,n->abc", "does not fit to the input n"),
    ],
)
def test_frozen_values_that_do_not_fit(scaled: Path, text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        moir.run(scaled, input=text, runtime="framework")


TABLES = [
    helper.make_node("Gather", ["table", "ids"], ["a"]),
    helper.make_node("Cast", ["kinds"], ["c"], to=TensorProto.INT64),
    helper.make_node("Unsqueeze", ["c", "axes"], ["u"]),
    helper.make_node("Add", ["u", "two"], ["o"]),
    helper.make_node("Gather", ["small", "o"], ["b"], axis=1),
    helper.make_node("ReduceSum", ["b"], ["s"], keepdims=0),
    helper.make_node("Cast", ["mask"], ["m"], to=TensorProto.FLOAT),
    helper.make_node("Unsqueeze", ["m", "axes"], ["n"]),
    helper.make_node("Mul", ["a", "n"], ["p"]),
    helper.make_node("Add", ["p", "s"], ["y"]),
]
"""ids are indices of `table`, kinds + 2 of the columns of `small`; the mask is no index."""


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    inputs: Model = {name: (TensorProto.INT64, ["n", 50]) for name in ("ids", "mask")} | {"kinds": (TensorProto.INT32, ["n"])}
    constants = {
        "table": np.ones((1000, 1), np.float32),
        "small": np.ones((2, 9), np.float32),
        "axes": np.array([-1]),
        "two": np.array(2),
    }
    return save(tmp_path / "tables.onnx", TABLES, inputs, constants)


def test_integers_are_indices_of_their_tables(tables: Path) -> None:
    module = read_model(tables)
    before = str(module)
    assert ranges_by_use(module) == {"ids": (0, 999), "kinds": (0, 6)}
    assert str(module) == before


def test_random_integers_are_in_their_ranges(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in ([], ["--runtime", "openvino"]):
        assert main(["run", str(tables), "--input", "ids[4,50],mask[4,50],kinds[4]", *arguments]) == 0
        lines = capsys.readouterr().out.splitlines()
        ids = next(line for line in lines if "ids:" in line)
        low, high = (int(part) for part in ids.rpartition(", ")[2].split(" … "))
        assert 0 <= low < 100 < 900 < high < 1000
        assert next(line for line in lines if "mask:" in line).endswith("0 … 1")


def test_ranges_can_be_given(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tables), "--ranges", "mask=7..7,kinds=3", "--input", "ids[4,50],mask[4,50],kinds[4]"]) == 0
    out = capsys.readouterr().out
    assert "mask: i64[4,50], 7" in out
    assert "kinds: i32[4], 3" in out


def test_ranges_of_floats(tmp_path: Path) -> None:
    path = save(tmp_path / "relu.onnx", [helper.make_node("Relu", ["x"], ["y"])], {"x": (TensorProto.FLOAT, [100])})
    result = moir.run(path, ranges={"x": (5, 6)})["y"]
    assert 5 <= result.min() < 5.2 < 5.8 < result.max() <= 6


@pytest.mark.parametrize("text", ["mask", "mask=a..b", "=1..2", "mask=2..1"])
def test_ranges_that_are_none(tables: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(tables), "--ranges", text]) == 2
    assert "is not NAME=LOW..HIGH, such as ids=0..100" in capsys.readouterr().err


def test_ranges_of_inputs_that_do_not_exist(tables: Path) -> None:
    for function in (moir.run, moir.bisect):
        with pytest.raises(UsageError, match="the model has no input 'masks'"):
            function(tables, ranges={"masks": (0, 1)})


@pytest.mark.parametrize(("dtype", "low"), [("ui8", 0), ("si8", -128)])
def test_images_of_8_bits_have_all_values(dtype: str, low: int, tmp_path: Path) -> None:
    path = tmp_path / "image.mlir"
    path.write_text(f"""
    moir.model @m {{
      %x = opset1.Parameter() {{name = "x"}} : tensor<1x3x16x16x{dtype}>
      %y = opset1.Convert(%x) {{destination_type = si32}} : tensor<1x3x16x16xsi32>
      opset1.Result(%y) {{name = "y"}}
    }}
    """)
    result = moir.run(path)["y"]
    assert (result.min() < low + 20, result.max() > low + 235) == (True, True)


def test_bisection_draws_indices(tables: Path) -> None:
    assert moir.bisect(tables, input="ids[4,50],mask[4,50],kinds[4]").kind == "none"
