"""GPTQ and AWQ: weights packed one code at a time, as their formats say, and read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from moir.dialects.computed_rows import ComputedRows
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.frontends.quantized_checkpoints import quantization_of
from moir.frontends.quantized_checkpoints.quantization import Layer
from tests.unit.frontends.stored_values import values

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)


def _down(codes: Array, bits: int) -> Array:
    """Codes [K, N] -> words [K · bits / 32, N]."""
    per = 32 // bits
    words = np.zeros((codes.shape[0] // per, codes.shape[1]), np.uint32)
    for row, code in enumerate(codes.astype(np.uint32)):
        words[row // per] |= code << np.uint32(row % per * bits)
    return words.view(np.int32)


def _across(codes: Array, bits: int) -> Array:
    return np.ascontiguousarray(_down(codes.T, bits).T)


def _layer(tensors: dict[str, Array]) -> Layer:
    named = {f"fc.{name}": DataAttr.of(array) for name, array in tensors.items()}
    return Layer("fc", named.get, "model")


def _parts(bits: int, rows: int, columns: int, group: int) -> tuple[Array, Array, Array]:
    codes = RANDOM.integers(0, 1 << bits, (columns, rows))
    zeros = RANDOM.integers(1, 1 << bits, (columns // group, rows))
    return codes, zeros, RANDOM.uniform(0.01, 0.1, (columns // group, rows)).astype(np.float16)


@pytest.mark.parametrize("form", ["gptq", "gptq_v2"])
@pytest.mark.parametrize(("bits", "group"), [(2, 32), (4, 32), (8, 32), (4, -1)])
@pytest.mark.parametrize("sorted_columns", [True, False])
def test_gptq(form: str, bits: int, group: int, sorted_columns: bool) -> None:
    size = 128 if group == -1 else group
    codes, zeros, scales = _parts(bits, 64, 128, size)
    number = np.arange(128) // size
    number = number if sorted_columns else RANDOM.permutation(number)
    tensors = {
        "qweight": _down(codes, bits),
        "qzeros": _across(zeros - (form == "gptq"), bits),
        "scales": scales,
        "g_idx": number.astype(np.int32),
    }
    method = quantization_of({"quant_method": "gptq", "bits": bits, "group_size": group, "checkpoint_format": form}, "config.json")
    weight = method.weight(_layer(tensors))
    assert weight is not None
    expected = (scales[number].astype(np.float64) * (codes - zeros[number])).T
    assert (weight.columns is None) == np.array_equal(number, np.arange(128) // size)
    if weight.columns is not None:
        expected = expected[:, weight.columns.array]
    np.testing.assert_array_equal(values(weight), expected)


def test_layers_with_settings_of_their_own() -> None:
    settings = {"quant_method": "gptq", "bits": 4, "group_size": 32, "dynamic": {"+:.*": {"bits": 8, "group_size": 64}}}
    codes, zeros, scales = _parts(8, 64, 128, 64)
    tensors = {"qweight": _down(codes, 8), "qzeros": _across(zeros - 1, 8), "scales": scales}
    weight = quantization_of(settings, "config.json").weight(_layer(tensors))
    assert weight is not None
    np.testing.assert_array_equal(values(weight), (scales.repeat(64, 0).astype(np.float64) * (codes - zeros.repeat(64, 0))).T)


@pytest.mark.parametrize(("form", "less"), [("auto_round", 0), ("auto_round:auto_gptq", 1)])
def test_auto_round(form: str, less: int) -> None:
    codes, zeros, scales = _parts(4, 64, 128, 32)
    method = quantization_of({"quant_method": "auto-round", "bits": 4, "group_size": 32, "packing_format": form}, "config.json")
    weight = method.weight(_layer({"qweight": _down(codes, 4), "qzeros": _across(zeros - less, 4), "scales": scales}))
    assert weight is not None
    np.testing.assert_array_equal(values(weight), (scales.repeat(32, 0).astype(np.float64) * (codes - zeros.repeat(32, 0))).T)


def test_zero_points_beyond_the_codes() -> None:
    codes, zeros, scales = _parts(4, 64, 128, 32)
    zeros[1, 3] = 16
    method = quantization_of({"quant_method": "gptq", "bits": 4, "group_size": 32}, "config.json")
    weight = method.weight(_layer({"qweight": _down(codes, 4), "qzeros": _across(zeros - 1, 4), "scales": scales}))
    assert weight is not None
    np.testing.assert_array_equal(values(weight), (scales.repeat(32, 0).astype(np.float64) * (codes - zeros.repeat(32, 0))).T)


@pytest.mark.parametrize("group", [32, 64, 128])
def test_awq(group: int) -> None:
    codes, zeros, scales = _parts(4, 64, 128, group)

    def packed(array: Array) -> Array:
        return _across(array.reshape(array.shape[0], -1, 8)[..., AWQ_ORDER].reshape(array.shape), 4)

    method = quantization_of({"quant_method": "awq", "bits": 4, "group_size": group, "version": "gemm"}, "config.json")
    weight = method.weight(_layer({"qweight": packed(codes), "qzeros": packed(zeros), "scales": scales}))
    assert weight is not None
    expected = (scales.repeat(group, 0).astype(np.float64) * (codes - zeros.repeat(group, 0))).T
    np.testing.assert_array_equal(values(weight), expected)


@pytest.mark.parametrize("kind", ["gptq", "awq"])
def test_large_weights_are_computed_when_they_are_written(kind: str) -> None:
    words = {"gptq": (64, 1024), "awq": (512, 128)}[kind]
    zeros, scales = np.zeros((4, 128), np.int32), np.ones((4, 1024), np.float16)
    tensors = {"qweight": RANDOM.integers(-(1 << 31), 1 << 31, words, np.int32), "qzeros": zeros, "scales": scales}
    weight = quantization_of({"quant_method": kind, "bits": 4, "group_size": 128}, "config.json").weight(_layer(tensors))
    assert weight is not None
    assert isinstance(weight.codes.values, ComputedRows)
    assert weight.codes.values.nbytes == weight.codes.nbytes


def test_a_layer_without_codes_is_not_quantized() -> None:
    for kind in ("gptq", "awq"):
        assert quantization_of({"quant_method": kind, "bits": 4}, "config.json").weight(_layer({"weight": np.ones((2, 2))})) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"quant_method": "aqlm"}, "the quantization 'aqlm' is not supported"),
        ({"quant_method": "gptq", "bits": 5}, "GPTQ with 5 bits"),
        ({"quant_method": "gptq", "bits": True}, "bits is True, not a size"),
        ({"quant_method": "gptq"}, "has no 'bits'"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": 5}, "dynamic is 5, not an object"),
        ({"quant_method": "auto-round", "bits": 4, "packing_format": "auto_round:fake"}, "AutoRound's layout 'auto_round:fake'"),
        ({"quant_method": "awq", "version": "gemv"}, "in the layout 'gemv'"),
        ([], "is not an object"),
    ],
)
def test_settings_that_are_refused(settings: object, message: str) -> None:
    with pytest.raises(ModelFileError, match=message):
        quantization_of(settings, "config.json")


@pytest.mark.parametrize("name", ["qweight", "qzeros", "scales", "g_idx"])
def test_tensors_that_do_not_fit_are_named(name: str) -> None:
    codes, zeros, scales = _parts(4, 64, 128, 32)
    tensors = {"qweight": _down(codes, 4), "qzeros": _across(zeros - 1, 4), "scales": scales, "g_idx": np.arange(128, dtype=np.int32) // 32}
    method = quantization_of({"quant_method": "gptq", "bits": 4, "group_size": 32}, "config.json")
    with pytest.raises(ModelFileError, match="'fc'"):
        method.weight(_layer(tensors | {name: tensors[name][1:]}))
    if name in ("qzeros", "scales"):
        with pytest.raises(ModelFileError, match=f"fc.{name} is missing"):
            method.weight(_layer({each: array for each, array in tensors.items() if each != name}))
