"""Programs as torch exports them, against what torch computes.

`generate_operators.py`, `generate_algebra.py` and `generate_lengths.py` of `tests/fixtures/pytorch` write them.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.runtime import compare, run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pytorch"


@pytest.mark.parametrize("name", ["operators", "algebra"])
def test_operators_as_torch_exports_them(name: str) -> None:
    values = np.load(FIXTURES / f"{name}.npz")
    inputs = {each[3:]: values[each] for each in values.files if each.startswith("in_")}
    expected = {each[4:]: values[each] for each in values.files if each.startswith("out_")}
    results = run(moir.to_openvino(moir.convert_model(FIXTURES / f"{name}.pt2")), inputs)
    assert len(results) == len(expected)
    wrong: list[str] = []
    for (output, wanted), result in zip(expected.items(), results, strict=True):
        try:
            compare([result], [wanted], rtol=1e-3, atol=1e-4)
        except AssertionError as error:
            wrong.append(f"{output}: {result.dtype}{list(result.shape)} {wanted.dtype}{list(wanted.shape)} {str(error).strip()[:160]}")
    assert wrong == []


@pytest.mark.parametrize("size", [6, 7, 10, 13, 29])
def test_dimensions_of_unknown_size(size: int) -> None:
    values = np.load(FIXTURES / "lengths.npz")
    inputs = {name: values[f"in_{size}_{name}"] for name in ("x", "rows")}
    wanted = {each: values[each] for each in values.files if each.startswith(f"out_{size}_")}
    results = run(moir.to_openvino(moir.convert_model(FIXTURES / "lengths.pt2")), inputs)
    for (name, expected), found in zip(wanted.items(), results, strict=True):
        assert (name, found.dtype, found.shape) == (name, expected.dtype, expected.shape)
        compare([found], [expected], rtol=1e-3, atol=1e-4)


def test_a_program_of_torch_2_5() -> None:
    """Sizes are written with operators, bounds are infinite, weights are pickled.

    `gru_plain` of `benchmarks/pytorch_exports.py`, exported by torch 2.5.1, without its example inputs.
    """
    values = np.load(FIXTURES / "gru_of_torch_2_5.npz")
    model = moir.to_openvino(moir.convert_model(FIXTURES / "gru_of_torch_2_5.pt2"))
    compare(run(model, {"x": values["in0"]}), [values["out0"], values["out1"]])
    # The number of sequences is dynamic.
    compare(run(model, {"x": np.tile(values["in0"], (1, 2, 1))}), [np.tile(values[name], (1, 2, 1)) for name in ("out0", "out1")])
