"""Pads with computed values, through the whole pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.forms import Form
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.runtime import compare, core, run

X = np.arange(6, dtype=np.float32).reshape(2, 3) + 1


@pytest.mark.parametrize("form", ["static", "dynamic"])
@pytest.mark.parametrize("pads", [[1, 0, 0, 2], [0, -1, 1, 1]])
def test_a_computed_value(form: Form, pads: list[int], tmp_path: Path) -> None:
    given, inputs = node("Pad", ["x", "p", "v"], ["y"]), {"x": X, "v": np.array(9, np.float32)}
    model = build([given], inputs, constants={"p": np.array(pads)}, form=form, fixed=["v"])
    (tmp_path / "model.onnx").write_bytes(model.SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    compare(run(core().read_model(tmp_path / "model.xml"), inputs), expected_results(model, inputs, "onnxruntime"))
