"""Models of scikit-learn, XGBoost and LightGBM, converted from end to end: OpenVINO Runtime computes what ONNX Runtime does.

The models and rows of their inputs are files in `networks/classical`, written by `build.py` there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import openvino
import pytest

import moir
from tests.numerical.runtime import as_tensor

MODELS = Path(__file__).parent / "networks" / "classical"
NAMES = sorted(path.stem for path in MODELS.glob("*.onnx"))


def test_the_models_are_all_there() -> None:
    assert len(NAMES) == 16
    assert all(path.stat().st_size < 20_000 for path in MODELS.iterdir() if path.is_file())


def expected(name: str, rows: Any) -> list[Any]:
    """The outputs by ONNX Runtime; maps from classes to scores, one for each row, as a tensor of the scores."""
    session = onnxruntime.InferenceSession(MODELS / f"{name}.onnx", providers=["CPUExecutionProvider"])
    (port,) = session.get_inputs()
    outputs: list[Any] = session.run(None, {port.name: rows})
    return [np.array([[*scores.values()] for scores in each], np.float32) if isinstance(each, list) else each for each in outputs]


@pytest.mark.parametrize("name", NAMES)
def test_outputs_are_those_of_onnxruntime(name: str, tmp_path: Path) -> None:
    with np.load(MODELS / f"{name}.npz") as arrays:
        rows = arrays["rows"]
    module = moir.convert_model(MODELS / f"{name}.onnx")
    moir.save_model(module, tmp_path / "model.xml")
    compiled = openvino.Core().compile_model(tmp_path / "model.xml", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    actual = compiled([as_tensor(rows, compiled.inputs[0].element_type)])
    wanted = expected(name, rows.astype(object) if rows.dtype.kind == "U" else rows)
    assert len(wanted) == len(compiled.outputs)
    for index, array in enumerate(wanted):
        if array.dtype.kind in "OU":
            assert actual[index].ravel().tolist() == array.ravel().tolist()
        else:
            assert (actual[index].shape, actual[index].dtype) == (array.shape, array.dtype)
            np.testing.assert_allclose(actual[index], array, rtol=1e-4, atol=1e-5)
