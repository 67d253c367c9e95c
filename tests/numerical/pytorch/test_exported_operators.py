"""Programs as torch exports them, against what torch computes.

The files `generate_*.py` of `tests/fixtures/pytorch` write them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from tests.numerical.runtime import compare, run

FIXTURES = Path(__file__).parents[2] / "fixtures" / "pytorch"


@pytest.mark.parametrize("name", ["operators", "algebra", "layers"])
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
def test_dimensions_of_dynamic_size(size: int) -> None:
    values = np.load(FIXTURES / "lengths.npz")
    inputs = {name: values[f"in_{size}_{name}"] for name in ("x", "rows")}
    wanted = {each: values[each] for each in values.files if each.startswith(f"out_{size}_")}
    results = run(moir.to_openvino(moir.convert_model(FIXTURES / "lengths.pt2")), inputs)
    for (name, expected), result in zip(wanted.items(), results, strict=True):
        assert (name, result.dtype, result.shape) == (name, expected.dtype, expected.shape)
        compare([result], [expected], rtol=1e-3, atol=1e-4)


@cache
def sizes_program() -> Any:
    """The program of images and matrices of dynamic size."""
    return moir.to_openvino(moir.convert_model(FIXTURES / "sizes.pt2"))


@pytest.mark.parametrize("index", [0, 1, 2])
def test_images_and_matrices_of_dynamic_size(index: int) -> None:
    values = np.load(FIXTURES / "sizes.npz")
    inputs = {name: values[f"in_{index}_{name}"] for name in ("image", "large", "rows")}
    prefix = f"out_{index}_"
    wanted = {each.removeprefix(prefix): values[each] for each in values.files if each.startswith(prefix)}
    results = run(sizes_program(), inputs)
    for (name, expected), result in zip(wanted.items(), results, strict=True):
        assert (name, result.dtype, result.shape) == (name, expected.dtype, expected.shape)
        compare([result], [expected], rtol=1e-3, atol=1e-4)


def test_a_program_of_torch_2_5() -> None:
    """Sizes are written with operators, bounds are infinite, weights are pickled.

    `gru_plain` of `benchmarks/pytorch_exports.py`, exported by torch 2.5.1, without its example inputs.
    """
    values = np.load(FIXTURES / "gru_of_torch_2_5.npz")
    model = moir.to_openvino(moir.convert_model(FIXTURES / "gru_of_torch_2_5.pt2"))
    compare(run(model, {"x": values["in0"]}), [values["out0"], values["out1"]])
    # The number of sequences is dynamic.
    compare(run(model, {"x": np.tile(values["in0"], (1, 2, 1))}), [np.tile(values[name], (1, 2, 1)) for name in ("out0", "out1")])
