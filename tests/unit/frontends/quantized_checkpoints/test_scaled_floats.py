"""Floating-point numbers of 8 and 4 bits with scales of all forms; MXFP4 of gpt-oss."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from moir.dialects.element_types import f4e2m1, f8e4m3, f8e5m2, f8e8m0
from moir.errors import ModelFileError
from moir.frontends.quantized_checkpoints import quantization_of
from tests.unit.frontends.quantized_checkpoints.layers import layer, pairs, weight
from tests.unit.frontends.stored_values import E2M1, values

RANDOM = np.random.default_rng(0)
FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}
NUMBERS = RANDOM.standard_normal((256, 384)).astype(ml_dtypes.float8_e4m3fn)


@pytest.mark.parametrize(
    ("method", "name", "shape"),
    [
        ("fp8", "weight_scale_inv", (2, 3)),
        ("fp8", "weight_scale", ()),
        ("fbgemm_fp8", "weight_scale", (256, 1)),
        ("modelopt", "weight_scale", (256,)),
        ("modelopt", "weight_scale", (2, 1, 3, 1)),
        ("fp8", "weight_scale_inv", (256, 12)),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_scales_of_all_forms(method: str, name: str, shape: tuple[int, ...], dtype: type) -> None:
    scales = RANDOM.uniform(0.001, 0.01, shape).astype(dtype)
    actual = weight({**FP8, "quant_method": method}, {"weight": NUMBERS, name: scales})
    assert actual.codes.element == f8e4m3
    grid = scales.astype(np.float64).reshape({4: (2, 3), 1: (256, 1), 0: (1, 1)}.get(len(shape), shape))
    spread = grid.repeat(256 // grid.shape[0], 0).repeat(384 // grid.shape[1], 1)
    np.testing.assert_array_equal(values(actual), NUMBERS.astype(np.float64) * spread)


def test_blocks_at_the_borders_are_smaller() -> None:
    numbers, scales = NUMBERS[:200, :320].astype(ml_dtypes.float8_e5m2), RANDOM.uniform(0.1, 1, (2, 3)).astype(np.float32)
    actual = weight(FP8, {"weight": numbers, "weight_scale_inv": scales})
    assert actual.codes.element == f8e5m2
    spread = scales.astype(np.float64).repeat(128, 0)[:200].repeat(128, 1)[:, :320]
    np.testing.assert_array_equal(values(actual), numbers.astype(np.float64) * spread)


def test_exponents_as_scales() -> None:
    exponents = RANDOM.integers(100, 140, (256, 12)).astype(np.uint8)
    spread = 2.0 ** (exponents.astype(np.int64) - 127).repeat(32, 1)
    actual = weight(FP8, {"weight": NUMBERS, "weight_scale_inv": exponents})
    np.testing.assert_array_equal(values(actual), NUMBERS.astype(np.float64) * spread)
    codes = RANDOM.integers(0, 16, (256, 384))
    actual = weight(FP8, {"weight": pairs(codes).view(np.int8), "weight_scale_inv": exponents})
    assert actual.scale is not None
    assert (actual.codes.element, actual.scale.element) == (f4e2m1, f8e8m0)
    np.testing.assert_array_equal(values(actual), E2M1[codes] * spread)


def test_two_scales() -> None:
    codes, scales = RANDOM.integers(0, 16, (64, 128)), RANDOM.uniform(1, 400, (64, 8)).astype(ml_dtypes.float8_e4m3fn)
    tensors = {"weight": pairs(codes), "weight_scale": scales, "weight_scale_2": np.array(0.25, np.float32)}
    actual = weight({"quant_method": "modelopt", "quant_algo": "NVFP4"}, tensors)
    np.testing.assert_array_equal(values(actual), E2M1[codes] * (scales.astype(np.float64) / 4).repeat(16, 1))


@pytest.mark.parametrize("experts", [(), (4,)])
def test_mxfp4_is_a_view(experts: tuple[int, ...]) -> None:
    codes, exponents = RANDOM.integers(0, 16, (*experts, 64, 4, 32)), RANDOM.integers(110, 130, (*experts, 64, 4)).astype(np.uint8)
    blocks = pairs(codes)
    actual = weight({"quant_method": "mxfp4"}, {"blocks": blocks, "scales": exponents}, "_")
    assert np.shares_memory(np.asarray(actual.codes.values), blocks)
    expected = E2M1[codes] * 2.0 ** (exponents.astype(np.int64) - 127)[..., None]
    np.testing.assert_array_equal(values(actual), expected.reshape(*experts, 64, 128))


@pytest.mark.parametrize(
    ("settings", "tensors", "message"),
    [
        (FP8, {"weight": NUMBERS}, "have no scales"),
        (FP8, {"weight": NUMBERS, "weight_scale_inv": np.ones((5, 3), np.float32)}, "5 scales do not fit"),
        (FP8, {"weight": NUMBERS, "weight_scale_inv": np.ones((2, 3), np.int32)}, "scales are not numbers"),
        (FP8, {"weight": NUMBERS[0], "weight_scale_inv": np.ones((2, 3), np.float32)}, "are not a matrix"),
        ({"quant_method": "fp8", "weight_block_size": [0, 128]}, {}, "not two sizes"),
        ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, {}, "'w4a8_awq' is not supported"),
        ({"quant_method": "mxfp4"}, {"blocks": np.ones((4, 2, 16), np.uint8), "scales": np.ones((4, 3), np.uint8)}, "do not fit together"),
    ],
)
def test_what_is_refused(settings: dict[str, object], tensors: dict[str, np.ndarray], message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        weight(settings, tensors, "_" if settings["quant_method"] == "mxfp4" else ".")


def test_other_weights_are_not_quantized() -> None:
    for kind in ("fp8", "mxfp4"):
        assert quantization_of({"quant_method": kind}, "config.json").weight(layer({"weight": np.ones((2, 2), np.float32)})) is None
