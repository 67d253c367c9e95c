"""HQQ: codes packed as its files have them, and read back."""

from __future__ import annotations

import numpy as np
import pytest

from moir.errors import ModelFileError
from tests.unit.frontends.quantized_checkpoints.layers import Array, weight
from tests.unit.frontends.stored_values import values

RANDOM = np.random.default_rng(0)
METHOD = {"quant_method": "hqq", "quant_config": {}}


def quantized(bits: int, rows: int, columns: int, group: int) -> tuple[dict[str, Array], Array]:
    count, per = rows * columns // group, 8 // bits
    codes = RANDOM.integers(0, 1 << bits, (count, group))
    stored = np.zeros((count // per, group), np.int64)
    for part, each in enumerate(np.split(codes, per)):
        stored |= each << (per - 1 - part) * bits
    scales, zeros = RANDOM.uniform(0.01, 0.1, (count, 1)).astype(np.float16), RANDOM.uniform(0, 15, (count, 1)).astype(np.float16)
    settings = {"nbits": np.array(bits, np.int32), "axis": np.array(1, np.int32), "shape": np.array([rows, columns])}
    tensors = {"W_q": stored.astype(np.uint8), "scale": scales, "zero": zeros, **settings}
    return tensors, ((codes - zeros.astype(np.float64)) * scales.astype(np.float64)).reshape(rows, columns)


@pytest.mark.parametrize(("bits", "group"), [(8, 64), (4, 64), (2, 16), (4, 256)])
def test_codes(bits: int, group: int) -> None:
    tensors, expected = quantized(bits, 96, 256, group)
    np.testing.assert_allclose(values(weight(METHOD, tensors)), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"axis": np.array(0, np.int32)}, "axis 0"),
        ({"nbits": np.array(3, np.int32)}, "3 bits"),
        ({"shape": np.array([96, 1 << 40])}, "shape is"),
        ({"shape": np.array([95, 256])}, "do not fit to a matrix"),
        ({"W_q": np.ones((4, 64), np.uint8)}, "do not fit to a matrix"),
        ({"zero": np.ones((3, 1), np.float16)}, "do not fit to a matrix"),
    ],
)
def test_tensors_that_do_not_fit(change: dict[str, Array], message: str) -> None:
    tensors, _ = quantized(4, 96, 256, 64)
    with pytest.raises(ModelFileError, match=message):
        weight(METHOD, tensors | change)
