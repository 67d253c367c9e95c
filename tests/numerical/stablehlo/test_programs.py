"""Programs that JAX exported, in all forms, against the results of JAX. `tests/fixtures/stablehlo/generate.py` makes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.runtime import core

FIXTURES = Path(__file__).parents[2] / "fixtures" / "stablehlo"
PROGRAMS = sorted(path.stem for path in FIXTURES.glob("*.npz"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str) -> None:
    """The text is compared with JAX; the other forms are the same IR."""
    modules = [moir.convert_model(FIXTURES / f"{name}.{suffix}") for suffix in ("mlir", "mlirbc", "jax")]
    texts = ["\n".join(line for line in str(module).splitlines() if "moir.model" not in line) for module in modules]
    assert texts[0] == texts[1] == texts[2]
    compiled = core().compile_model(moir.to_openvino(modules[0]), "CPU")
    with np.load(FIXTURES / f"{name}.npz") as arrays:
        inputs = [arrays[f"in/{index}"] for index in range(len(compiled.inputs))]
        expected = [arrays[f"out/{index}"] for index in range(len(compiled.outputs))]
    actual = compiled([each if each.ndim else np.array(each) for each in inputs])
    for index, reference in enumerate(expected):
        got = np.asarray(actual[compiled.outputs[index]])
        if np.iscomplexobj(reference):
            reference = np.stack([reference.real, reference.imag], axis=-1)
        assert got.dtype == reference.dtype, index
        np.testing.assert_allclose(got, reference, rtol=2e-5, atol=2e-6, err_msg=f"result {index}")
