"""bitsandbytes: codes packed as its files have them, and read back."""

from __future__ import annotations

import json

import numpy as np
import pytest

from moir.dialects.element_types import nf4
from moir.errors import ModelFileError
from moir.frontends.quantized_checkpoints.bitsandbytes import FP4, NF4
from tests.unit.frontends.quantized_checkpoints.layers import Array, pairs, weight
from tests.unit.frontends.stored_values import values

RANDOM = np.random.default_rng(0)
METHOD = {"quant_method": "bitsandbytes"}
TABLES = {"nf4": np.array(NF4, np.float32), "fp4": (np.array([*FP4, *(-each for each in FP4)]) / 12).astype(np.float32)}


def quantized(kind: str, rows: int, columns: int, block: int, nested: bool) -> tuple[dict[str, Array], Array]:
    codes, count = RANDOM.integers(0, 16, rows * columns), -(-rows * columns // block)
    state: dict[str, object] = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": [rows, columns]}
    tensors = {"weight": pairs(codes, first_is_high=True).reshape(-1, 1), "weight.quant_map": TABLES[kind]}
    scales = RANDOM.uniform(0.1, 1, count).astype(np.float32)
    if nested:
        state |= {"nested_blocksize": 256, "nested_dtype": "float32", "nested_offset": 0.25}
        stored, table = RANDOM.integers(0, 256, count).astype(np.uint8), np.linspace(-1, 1, 256).astype(np.float32)
        largest = RANDOM.uniform(0.1, 0.2, -(-count // 256)).astype(np.float32)
        tensors |= {"weight.absmax": stored, "weight.nested_absmax": largest, "weight.nested_quant_map": table}
        scales = table[stored] * largest.repeat(256)[:count] + np.float32(0.25)
    else:
        tensors["weight.absmax"] = scales
    tensors[f"weight.quant_state.bitsandbytes__{kind}"] = np.frombuffer(json.dumps(state).encode(), np.uint8)
    numbers = TABLES[kind][codes].astype(np.float64) * scales.astype(np.float64).repeat(block)[: codes.size]
    return tensors, numbers.reshape(rows, columns)


@pytest.mark.parametrize("kind", ["nf4", "fp4"])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize(("rows", "columns", "block"), [(32, 128, 64), (256, 1024, 64), (32, 384, 128)])
def test_four_bits(kind: str, rows: int, columns: int, block: int, nested: bool) -> None:
    tensors, expected = quantized(kind, rows, columns, block, nested)
    actual = weight(METHOD, tensors)
    assert (actual.codes.element == nf4) == (kind == "nf4")
    np.testing.assert_allclose(values(actual), expected, rtol=3e-7)


@pytest.mark.parametrize(("rows", "columns"), [(16, 96), (16, 32)])
def test_blocks_that_are_no_parts_of_rows(rows: int, columns: int) -> None:
    tensors, expected = quantized("nf4", rows, columns, 64, nested=False)
    np.testing.assert_allclose(values(weight(METHOD, tensors)), expected, rtol=3e-7)


def test_eight_bits() -> None:
    codes, largest = RANDOM.integers(-127, 128, (32, 64)).astype(np.int8), RANDOM.uniform(0.1, 1, 32).astype(np.float32)
    actual = weight(METHOD, {"weight": codes, "SCB": largest, "weight_format": np.array(0, np.uint8)})
    np.testing.assert_allclose(values(actual), codes * largest[:, None].astype(np.float64) / 127, rtol=3e-7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weight": np.ones((10, 1), np.uint8)}, "do not fit to 32 rows"),
        ({"weight.quant_map": np.ones(16, np.float32)}, "the table of nf4 has other numbers"),
        ({"weight.absmax": np.ones(3, np.float32)}, "absmax"),
        ({"weight.absmax": np.ones(64, np.int32)}, "absmax is neither f32 nor codes"),
        ({"weight.quant_state.bitsandbytes__nf4": np.frombuffer(b"[1]", np.uint8)}, "not an object of JSON"),
        ({"weight.quant_state.bitsandbytes__nf4": np.frombuffer(b"{", np.uint8)}, "not JSON"),
        ({"weight.quant_state.bitsandbytes__nf4": np.frombuffer(b'{"shape": [32, 128], "blocksize": 0}', np.uint8)}, "blocksize"),
        ({"weight.quant_state.bitsandbytes__nf4": np.frombuffer(b'{"shape": [1e9]}', np.uint8)}, "not that of a matrix"),
    ],
)
def test_tensors_that_do_not_fit(change: dict[str, Array], message: str) -> None:
    tensors, _ = quantized("nf4", 32, 128, 64, nested=False)
    with pytest.raises(ModelFileError, match=message):
        weight(METHOD, tensors | change)
    with pytest.raises(ModelFileError, match="no SCB and no quant_state"):
        weight(METHOD, {"weight": np.ones((4, 4), np.int8)})
