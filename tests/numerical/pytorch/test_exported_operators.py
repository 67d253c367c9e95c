"""Operators as torch exports them, against what torch computes: see `tests/fixtures/pytorch/generate_operators.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import moir
from tests.numerical.runtime import compare, run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pytorch"


def test_operators_as_torch_exports_them() -> None:
    values = np.load(FIXTURES / "operators.npz")
    inputs = {name[3:]: values[name] for name in values.files if name.startswith("in_")}
    expected = {name[4:]: values[name] for name in values.files if name.startswith("out_")}
    results = run(moir.to_openvino(moir.convert_model(FIXTURES / "operators.pt2")), inputs)
    assert len(results) == len(expected)
    wrong: list[str] = []
    for (name, wanted), result in zip(expected.items(), results, strict=True):
        try:
            compare([result], [wanted], rtol=1e-3, atol=1e-4)
        except AssertionError as error:
            wrong.append(f"{name}: {result.dtype}{list(result.shape)} {wanted.dtype}{list(wanted.shape)} {str(error).strip()[:160]}")
    assert wrong == []
