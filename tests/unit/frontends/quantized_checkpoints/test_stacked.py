"""The quantized matrices of experts as one weight."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from moir.dialects.computed_rows import StackedMatrices
from moir.errors import ModelFileError
from moir.frontends.quantized_checkpoints import quantization_of, stacked_weights
from tests.unit.frontends.quantized_checkpoints.layers import Array, layer, words
from tests.unit.frontends.stored_values import values

RANDOM = np.random.default_rng(0)
GPTQ = {"quant_method": "gptq", "bits": 4, "group_size": 32}


def expert(rows: int = 64, highest: int = 16, factor: float = 1.0) -> tuple[dict[str, Array], Array]:
    codes, zeros = RANDOM.integers(0, 16, (128, rows)), RANDOM.integers(1, highest, (4, rows))
    scales = (RANDOM.uniform(0.01, 0.1, (4, rows)) * factor).astype(np.float32)
    tensors = {"qweight": np.ascontiguousarray(words(codes.T, 4).T), "qzeros": words(zeros - 1, 4), "scales": scales}
    return tensors, (scales.astype(np.float64).repeat(32, 0) * (codes - zeros.repeat(32, 0))).T


@pytest.mark.parametrize("differ", [False, True], ids=["of one type", "of other types"])
def test_matrices_of_experts(differ: bool) -> None:
    # The zero points of the second expert have no room in 4 bits.
    experts = [expert(), expert(highest=17 if differ else 16), expert()]
    if differ:
        experts[1][0]["qzeros"][:] = words(np.full((4, 64), 15), 4)
        experts[1] = (experts[1][0], experts[1][1])
    actual = stacked_weights([layer(tensors) for tensors, _ in experts], quantization_of(GPTQ, "config.json"))
    assert actual is not None
    assert actual.shape == (3, 64, 128)
    for index in (0, 2):
        np.testing.assert_array_equal(values(actual)[index], experts[index][1])
    moved = actual.rows(lambda array: array[:, ::-1])
    np.testing.assert_array_equal(values(moved), values(actual)[:, ::-1])


def test_large_matrices_are_stacked_when_they_are_written() -> None:
    numbers = RANDOM.standard_normal((256, 512)).astype(ml_dtypes.float8_e4m3fn)
    tensors = {"weight": numbers, "weight_scale": np.ones((256, 1), np.float32)}
    actual = stacked_weights([layer(tensors)] * 2, quantization_of({"quant_method": "fp8"}, "config.json"))
    assert actual is not None
    assert isinstance(actual.codes.values, StackedMatrices)


def test_experts_that_differ_are_refused() -> None:
    method, plain = quantization_of(GPTQ, "config.json"), {"weight": np.ones((64, 128), np.float32)}
    with pytest.raises(ModelFileError, match="in another way"):
        stacked_weights([layer(expert()[0]), layer(plain)], method)
    with pytest.raises(ModelFileError, match="in another way"):
        stacked_weights([layer(expert()[0]), layer(expert(rows=32)[0])], method)
    numbers = RANDOM.permutation(np.arange(128) // 32).astype(np.int32)
    with pytest.raises(ModelFileError, match="desc_act"):
        stacked_weights([layer({**expert()[0], "g_idx": numbers})], method)
    assert stacked_weights([layer(plain)], method) is None
