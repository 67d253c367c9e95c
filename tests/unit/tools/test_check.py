"""`moir check`, `moir.check` and `--keep-precision`."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import UsageError
from moir.tools.convert import main
from tests.unit.checking.overflowing_models import MODELS


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("variance", "t5_feed_forward"):
        each = MODELS[name]()
        onnx.save(each.model, f"{name}.onnx")
        np.savez(f"{name}.npz", x=each.inputs["x"])


def test_a_model_that_loses_too_much(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "variance.onnx", "--data", "variance.npz"]) == 1
    printed = capsys.readouterr().out
    assert "norm       MVN   overflow inside" in printed
    assert "onnx.LayerNormalization 'norm'" in printed
    assert "--keep-precision  norm" in printed


def test_status_0_if_there_is_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "variance.onnx", "--data", "variance.npz", "--precision", "bf16"]) == 0
    assert "operations at fault" not in capsys.readouterr().out
    assert main(["check", "variance.onnx", "--samples", "2"]) == 0
    assert "on 2 samples" in capsys.readouterr().out


def test_shapes_of_an_ir_are_set(capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of `--input` that the command prints is one that it takes."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 4]) for name in "xy")
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], "relu")], "g", [x], [y])
    moir.save_model(moir.convert_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])), "dynamic.xml")
    assert main(["check", "dynamic.xml", "--device", "NPU"]) == 1
    assert "--input  x[1,4]" in capsys.readouterr().out
    assert main(["check", "dynamic.xml", "--device", "NPU", "--input", "x[1,4]"]) == 0


def test_json_has_everything(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "variance.onnx", "--data", "variance.npz", "--device", "NPU", "--json"]) == 1
    result = json.loads(capsys.readouterr().out)
    assert (result["device"], result["violations"], result["clean"]) == ("NPU", [], False)
    (finding,) = result["precision"]["findings"]
    assert finding["nodes"] == [{"name": "norm", "type": "onnx.LayerNormalization"}]
    assert finding["factor"] > 100
    assert "epsilon" in finding["remedy"]
    assert result["precision"]["keep"] == ["norm"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.onnx"], "nothing.onnx: cannot be read"),
        (["variance.onnx", "--data", "nothing.npz"], "there is no file or folder nothing.npz"),
        (["variance.onnx", "--data", "t5_feed_forward.npz"], "the array for the input x: f32[2,32] is of the shape [4, 16]"),
        (["variance.onnx", "--device", "TPU"], "TPU"),
        (["variance.onnx", "--precision", "i8"], "i8"),
    ],
)
def test_trouble_is_status_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


def test_the_check_in_python() -> None:
    sample = MODELS["t5_feed_forward"]().inputs
    check = moir.check("t5_feed_forward.onnx", [sample], device="GPU")
    assert not check.is_clean
    assert check.precision.findings[0].operation == "wo_x"
    with pytest.raises(UsageError, match="there are no samples"):
        moir.check("variance.onnx", [])


def marked(path: str) -> set[str]:
    """The names of the layers of an IR that have the mark."""
    layers = ElementTree.parse(path).iter("layer")
    return {layer.attrib["name"] for layer in layers if layer.find("rt_info/attribute[@name='precise'][@version='0']") is not None}


def test_the_marks_of_a_conversion(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["variance.onnx", "--keep-precision", "norm,y"]) == 0
    assert marked("variance.xml") == {"norm", "y_1"}
    assert main(["t5_feed_forward.onnx", "--keep-precision", "auto"]) == 0
    assert {"wo_x", "residual", "squares", "normal"} <= marked("t5_feed_forward.xml")
    assert "with 7 operations in f32" in "".join(capsys.readouterr())
    assert main(["variance.onnx", "--keep-precision", "nrom"]) == 2
    assert "there is no node 'nrom' whose precision could be kept; did you mean norm?" in capsys.readouterr().err
    assert main(["variance.onnx", "--keep-precision", "norm", "-o", "other.onnx"]) == 2
    assert "marks layers of IR, but ONNX is written" in capsys.readouterr().err


def test_a_loop_is_kept_with_its_bodies() -> None:
    """A mark of a loop alone would leave what it computes in f16."""
    body = helper.make_graph(
        [helper.make_node("Exp", ["s"], ["next"], "exp"), helper.make_node("Identity", ["c"], ["go"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            helper.make_tensor_value_info("s", TensorProto.FLOAT, [2]),
        ],
        [helper.make_tensor_value_info("go", TensorProto.BOOL, []), helper.make_tensor_value_info("next", TensorProto.FLOAT, [2])],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["n", "", "x"], ["e"], "loop", body=body), helper.make_node("Log", ["e"], ["y"], "log")],
        "g",
        [helper.make_tensor_value_info("n", TensorProto.INT64, []), helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    sample = {"n": np.asarray(2, np.int64), "x": np.asarray([1.0, 2.7], np.float32)}
    precision = moir.check(model, [sample]).precision
    assert (precision.error, precision.findings[0].type, precision.keep) == (None, "Loop", ("loop", "log"))
    module = moir.convert_model(model, keep_precision=precision.keep)
    marked = {op.name for op in module.walk() if "precise" in str(op.attributes.get("runtime_info"))}
    assert {"opset5.Loop", "opset1.Exp", "opset1.Log"} <= marked
