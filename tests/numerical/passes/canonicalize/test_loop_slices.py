"""Loops whose states are computed from slices in place, and loops that do not use their slices, through the whole pipeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.forms import FORMS, Form
from tests.numerical.onnx.conversion import build, expected_results, node
from tests.numerical.onnx.test_control_flow import body, constant
from tests.numerical.runtime import compare, core, run

X = np.arange(12, dtype=np.float32).reshape(4, 3) - 2
START = np.array([1, 2, 3], dtype=np.float32)

BODIES = {
    **{f"{kind} {first}": [node(kind, [first, second], ["t"]), node("Identity", ["t"], ["u"])]
       for kind in ("Add", "Mul", "Min", "Pow") for first, second in ("es", "se")},
    "delay": [node("Identity", ["e"], ["t"]), node("Identity", ["s"], ["u"])],
    "after an activation": [node("Relu", ["e"], ["t"]), node("Add", ["s", "t"], ["u"])],
    "unused slice": [constant("k", np.float32(1)), node("Add", ["s", "k"], ["t"]), node("Neg", ["t"], ["u"])],
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("nodes", BODIES.values(), ids=BODIES)
def test_states_from_slices(nodes, form: Form, tmp_path: Path):
    given = node("Scan", ["s0", "x"], ["y", "ys"], body=body(nodes, ["s", "e"], ["t", "u"]), num_scan_inputs=1)
    inputs = {"s0": START, "x": X}
    (tmp_path / "model.onnx").write_bytes(build([given], inputs, form=form, fixed=["s0"]).SerializeToString())
    moir.save_model(moir.convert_model(tmp_path / "model.onnx"), tmp_path / "model.xml")
    results = run(core().read_model(tmp_path / "model.xml"), inputs)
    compare(results, expected_results(build([given], inputs), inputs, "onnxruntime"))
