"""Models of one operation, of every operation and version: read and written they are the same, converted they compute the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import openvino
import pytest

import moir
from tests.numerical.openvino_ir.equality import computing, differences, serialized
from tests.numerical.runtime import core, run_together
from tests.unit.dialects.opset.runtime_reference import runtime_model
from tests.unit.dialects.opset.test_specification import SAMPLED, sample

RENAMED = frozenset(("opset1.LSTMCell",))
"""Operations to which the runtime adds constants while it reads them, each time under other names."""

NOT_COMPUTED = frozenset(
    (
        "opset1.BinaryConvolution",
        "opset1.HardSigmoid",
        "opset1.Selu",
        "opset17.BGRtoNV12",
        "opset17.GroupedMatMul",
        "opset17.RGBtoNV12",
        "opset3.ReadValue",
        "opset6.ReadValue",
        "opset8.AdaptiveMaxPool",
        "opset9.RDFT",
    )
)
"""Operations whose sample the CPU plugin refuses."""

OF_CERTAIN_VALUES = frozenset(("opset1.GatherTree", "opset15.EmbeddingBagOffsets", "opset3.EmbeddingBagOffsetsSum", "opset4.Proposal"))
"""Operations that take values of a certain form, and compute anything or nothing of others."""

RANDOM = frozenset(("opset8.RandomUniform", "opset13.Multinomial"))

COMPARED = [name for name in SAMPLED if name not in NOT_COMPUTED | OF_CERTAIN_VALUES | RANDOM]


def written_by_runtime(name: str, folder: Path) -> Path:
    """The file that the runtime writes of a model with the sample of an operation."""
    path = folder / "runtime.xml"
    openvino.save_model(runtime_model(*sample(name, "static")), path, compress_to_fp16=False)
    return path


def test_there_are_enough_models() -> None:
    assert len(SAMPLED) >= 230
    assert len(COMPARED) >= 215


@pytest.mark.parametrize("name", [name for name in SAMPLED if name not in RENAMED])
def test_what_is_read_is_written(name: str, tmp_path: Path) -> None:
    path, again = written_by_runtime(name, tmp_path), tmp_path / "again.xml"
    moir.save_model(moir.convert_model(path, passes="none"), again)
    first, second = (openvino.Core().read_model(each) for each in (path, again))
    assert list(differences(first, second)) == []
    assert serialized(first) == serialized(second)


def value(port: Any) -> np.ndarray[Any, Any]:
    """A value for an input: small numbers, which are valid as indices, too."""
    dtype, shape = port.get_element_type().to_dtype(), list(port.get_shape())
    generator = np.random.default_rng(5)
    numbers = generator.uniform(0.1, 0.9, shape) if np.dtype(dtype).kind == "f" else generator.integers(0, 2, shape)
    return numbers.astype(dtype)


COMPUTED_OTHERWISE = {"opset17.ErfInv"}
"""Operations that the target computes wrongly, so that forms expand them."""


@pytest.mark.parametrize("name", COMPARED)
def test_a_conversion_computes_the_same(name: str, tmp_path: Path) -> None:
    path, again = written_by_runtime(name, tmp_path), tmp_path / "again.xml"
    moir.save_model(moir.convert_model(path), again)
    first, second = (core().read_model(each) for each in (path, again))
    assert name in COMPUTED_OTHERWISE or computing(second) <= computing(first)
    inputs = [value(port) for port in first.inputs]
    for expected, actual in zip(*run_together([first, second], [inputs, inputs]), strict=True):
        assert actual.shape == expected.shape
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6) if expected.dtype.kind == "f" else np.testing.assert_array_equal(
            actual, expected
        )
