"""Notes about outputs whose declared types contradict what the model computes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from onnx import TensorProto, helper

from moir import convert_model
from moir.frontends.tensorflow.messages import message_class
from moir.frontends.tensorflow.wire_schema import SAVED_MODEL_FORMAT
from tests.unit.frontends.tensorflow.samples import notes

FIXTURE = Path(__file__).parents[2] / "fixtures" / "tensorflow" / "saved_model_v2"


@pytest.mark.parametrize(
    ("element", "shape", "declared"),
    [
        (TensorProto.FLOAT, [1, 3], None),
        (TensorProto.FLOAT, ["n", "m"], None),
        (TensorProto.FLOAT, None, None),
        (TensorProto.FLOAT, [7, 3], None),  # sizes are not compared
        (TensorProto.UINT16, [1, 3], "tensor<1x3xui16>"),
        (TensorProto.FLOAT, [3], "tensor<3xf32>"),
        (TensorProto.FLOAT, [], "tensor<f32>"),
        (TensorProto.STRING, None, "tensor<*x!moir.string>"),
    ],
)
def test_onnx(element: int, shape: Sequence[Any] | None, declared: str | None, tmp_path: Path) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3])
    y = helper.make_tensor_value_info("y", element, shape)
    actual = helper.make_graph([helper.make_node("Relu", ["x"], ["y"], name="relu")], "m", [x], [y])
    path = tmp_path / "m.onnx"
    path.write_bytes(helper.make_model(actual, opset_imports=[helper.make_opsetid("", 18)], ir_version=9).SerializeToString())
    expected = f"output 'y' is declared as {declared}, but what the model computes is tensor<1x3xf32>"
    assert notes(convert_model(path)) == ([] if declared is None else [expected])


def test_tensorflow(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(FIXTURE, tmp_path / "model"))
    path = folder / "saved_model.pb"
    message: Any = message_class(SAVED_MODEL_FORMAT.message)()
    message.ParseFromString(path.read_bytes())
    assert not [note for note in notes(convert_model(folder)) if "declared" in note]
    output = message.meta_graphs[0].signature_def["serving_default"].outputs["half"]
    assert output.dtype == 19
    output.dtype = 3
    path.write_bytes(message.SerializeToString())
    assert "output 'half' is declared as tensor<2xsi32>, but what the model computes is tensor<2xf16>" in notes(convert_model(folder))
    output.dtype = 19
    del output.tensor_shape.dim[:]
    path.write_bytes(message.SerializeToString())
    assert "output 'half' is declared as tensor<f16>, but what the model computes is tensor<2xf16>" in notes(convert_model(folder))
