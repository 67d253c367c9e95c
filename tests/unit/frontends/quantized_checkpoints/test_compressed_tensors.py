"""compressed-tensors: codes packed as the format says, and read back. The package itself agrees on all of these forms."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from moir.dialects.element_types import f8e8m0, si4, si8, ui4, ui8
from moir.errors import ModelFileError
from moir.frontends.quantized_checkpoints import quantization_of
from tests.unit.frontends.quantized_checkpoints.layers import Array, layer, pairs, weight, words
from tests.unit.frontends.stored_values import E2M1, values

RANDOM = np.random.default_rng(0)
METHOD = {"quant_method": "compressed-tensors"}


def packed(bits: int, rows: int, columns: int, groups: int, symmetric: bool) -> tuple[dict[str, Array], Array]:
    codes = RANDOM.integers(0, 1 << bits, (rows, columns))
    zeros = np.full((rows, groups), 1 << bits - 1) if symmetric else RANDOM.integers(0, 1 << bits, (rows, groups))
    scales = RANDOM.uniform(0.01, 0.1, (rows, groups)).astype(ml_dtypes.bfloat16)
    tensors = {"weight_packed": words(codes, bits), "weight_scale": scales, "weight_shape": np.array([rows, columns])}
    if not symmetric:
        tensors["weight_zero_point"] = np.ascontiguousarray(words(zeros.T, bits).T)
    size = columns // groups
    return tensors, scales.astype(np.float64).repeat(size, 1) * (codes - zeros.repeat(size, 1))


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(("bits", "rows", "columns", "groups"), [(4, 96, 256, 8), (8, 96, 256, 8), (4, 100, 260, 1), (8, 98, 258, 1)])
def test_packed_codes(bits: int, rows: int, columns: int, groups: int, symmetric: bool) -> None:
    tensors, expected = packed(bits, rows, columns, groups, symmetric)
    actual = weight(METHOD, tensors)
    assert actual.codes.element == ({4: si4, 8: si8} if symmetric else {4: ui4, 8: ui8})[bits]
    np.testing.assert_array_equal(values(actual), expected)


def test_columns_that_are_sorted_by_groups() -> None:
    tensors, _ = packed(4, 64, 128, 4, True)
    numbers = RANDOM.permutation(np.arange(128) // 32)
    actual = weight(METHOD, tensors | {"weight_g_idx": numbers.astype(np.int32)})
    assert actual.columns is not None
    codes = np.stack([tensors["weight_packed"].view(np.uint8) & 15, tensors["weight_packed"].view(np.uint8) >> 4], -1).reshape(64, 128)
    expected = (codes.astype(np.float64) - 8) * tensors["weight_scale"].astype(np.float64)[:, numbers]
    np.testing.assert_array_equal(values(actual), expected[:, actual.columns.array])


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("shape", [(1,), (96, 1), (96, 4)])
def test_bytes(shape: tuple[int, ...], symmetric: bool) -> None:
    codes = RANDOM.integers(-128, 128, (96, 256)).astype(np.int8)
    scales, zeros = RANDOM.uniform(0.01, 0.1, shape).astype(np.float32), RANDOM.integers(-128, 128, shape).astype(np.int8)
    tensors = {"weight": codes, "weight_scale": scales} | ({} if symmetric else {"weight_zero_point": zeros})
    actual = weight(METHOD, tensors)
    assert actual.codes.element == (si8 if symmetric else ui8)
    spread = [np.broadcast_to(each.astype(np.float64), (96, shape[-1])).repeat(256 // shape[-1], 1) for each in (scales, zeros)]
    np.testing.assert_array_equal(values(actual), (codes - (0 if symmetric else spread[1])) * spread[0])


@pytest.mark.parametrize("kind", ["nvfp4", "mxfp4"])
def test_floats_of_four_bits(kind: str) -> None:
    codes = RANDOM.integers(0, 16, (64, 128))
    if kind == "nvfp4":
        scales = RANDOM.uniform(1, 400, (64, 8)).astype(ml_dtypes.float8_e4m3fn)
        tensors = {"weight_packed": pairs(codes), "weight_scale": scales, "weight_global_scale": np.array([512.0], np.float32)}
        factors = scales.astype(np.float64) / 512
    else:
        exponents = RANDOM.integers(110, 130, (64, 4)).astype(np.uint8)
        tensors, factors = {"weight_packed": pairs(codes), "weight_scale": exponents}, 2.0 ** (exponents.astype(np.int64) - 127)
    actual = weight(METHOD, tensors)
    assert actual.scale is not None
    assert (actual.scale.element == f8e8m0) == (kind == "mxfp4")
    np.testing.assert_array_equal(values(actual), E2M1[codes] * factors.repeat(128 // factors.shape[1], 1))


def test_layers_without_codes_are_not_quantized() -> None:
    assert quantization_of(METHOD, "config.json").weight(layer({"weight": np.ones((4, 4), np.float32)})) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"format": "marlin-24"}, "the format 'marlin-24'"),
        ({"sparsity_config": {"format": "sparse-24-bitmask"}}, "sparse weights"),
        ({"sparsity_config": 5}, "sparsity_config is 5, not an object"),
        ({"transform_config": {"config_groups": {"u": {}}}}, "rotations"),
    ],
)
def test_settings_that_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        quantization_of({**METHOD, **settings}, "config.json")


@pytest.mark.parametrize("name", ["weight_packed", "weight_scale", "weight_shape", "weight_zero_point"])
def test_tensors_that_do_not_fit(name: str) -> None:
    tensors, _ = packed(4, 64, 128, 4, False)
    with pytest.raises(ModelFileError, match="'fc'"):
        weight(METHOD, tensors | {name: tensors[name][1:]})
    if name in ("weight_scale", "weight_shape"):
        with pytest.raises(ModelFileError, match=f"fc.{name} is missing"):
            weight(METHOD, {each: array for each, array in tensors.items() if each != name})
    with pytest.raises(ModelFileError, match="'fc'"):
        weight(METHOD, tensors | {"weight_shape": np.array([64, 1 << 40])})
