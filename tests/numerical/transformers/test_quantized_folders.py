"""Folders whose weights are quantized, against folders with the numbers that their codes stand for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.numerical.transformers.test_decoders import TEXT, compiled, step
from tests.unit.language_models.folders import Array, weights

QUANTIZED = [f"model.layers.0.mlp.{name}_proj" for name in ("gate", "up", "down")]
GROUP, BITS = 8, 4


def packed(codes: Array) -> Array:
    """Codes [n, m] of four bits as words [n / 8, m], the first code in the lowest bits."""
    shifts = (np.arange(8) * BITS).astype(np.uint32).reshape(1, 8, 1)
    words = codes.astype(np.uint32).reshape(-1, 8, codes.shape[1]) << shifts
    return np.bitwise_or.reduce(words, 1).view(np.int32)


def gptq(name: str, matrix: Array, is_sorted: bool) -> tuple[dict[str, Array], Array]:
    """The tensors of a layer with random codes, and the matrix that they stand for."""
    rows, columns = matrix.shape
    generator = np.random.default_rng(rows + columns)
    groups = np.arange(columns) // GROUP
    groups = groups if is_sorted else generator.permutation(groups)
    codes = generator.integers(0, 1 << BITS, (columns, rows))
    zeros = generator.integers(1, 1 << BITS, (columns // GROUP, rows))
    scales = generator.uniform(0.05, 0.2, zeros.shape).astype(np.float16)
    tensors = {
        "qweight": packed(codes),
        "qzeros": np.ascontiguousarray(packed((zeros - 1).T).T),
        "scales": scales,
        "g_idx": groups.astype(np.int32),
    }
    values = scales.astype(np.float32)[groups] * (codes - zeros[groups])
    return {f"{name}.{key}": value for key, value in tensors.items()}, np.ascontiguousarray(values.T.astype(np.float32))


@pytest.mark.parametrize("is_sorted", [True, False], ids=["groups in order", "groups in any order"])
def test_gptq(tmp_path: Path, is_sorted: bool) -> None:
    plain, quantized = dict(weights()), dict(weights())
    for name in QUANTIZED:
        tensors, plain[f"{name}.weight"] = gptq(name, quantized.pop(f"{name}.weight"), is_sorted)
        quantized |= tensors
    settings = {"quant_method": "gptq", "bits": BITS, "group_size": GROUP, "desc_act": not is_sorted}
    mask = np.ones((1, len(TEXT)), np.int64)
    expected = step(compiled(tmp_path / "plain", plain), TEXT[None], mask)
    request = compiled(tmp_path / "quantized", quantized, quantization_config=settings)
    actual = step(request, TEXT[None], mask)
    np.testing.assert_allclose(actual, expected, atol=1e-4 * np.abs(expected).max())
