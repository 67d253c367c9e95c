"""Quantized tensors, against what the specification says, in integers of numpy."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError
from tests.numerical.runtime import core
from tests.numerical.stablehlo.test_operations import computed, converted
from tests.numerical.stablehlo.test_programs import FIXTURES

GENERATOR = np.random.default_rng(8)


@pytest.mark.parametrize("suffix", ["mlir", "mlirbc"])
def test_convolution_of_unsigned_integers(suffix: str) -> None:
    """u8 activations with a zero point, i8 weights with a scale for each channel; padding is 0 in real numbers."""
    text = (FIXTURES / "quantized_convolution.mlir").read_text()
    weights = np.frombuffer(bytes.fromhex(re.findall('"0x([0-9A-F]+)"', text)[0]), np.int8).reshape(3, 3, 3, 6).astype(np.int64)
    scales = np.array([1.082e-02, 7.42e-03, 5.67e-03, 6.56e-03, 5.66e-03, 8.78e-03])
    x = GENERATOR.normal(size=(2, 9, 11, 3)).astype(np.float32)
    integers = np.clip(np.rint(x / np.float32(0.02)) + 117, 0, 255).astype(np.int64) - 117
    padded = np.pad(integers, ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))[:, ::2, ::2]
    sums = np.einsum("nhwckl,klcd->nhwd", windows, weights)
    expected = np.clip(np.rint(sums * scales * 0.02 / 0.04), 0, 255) * 0.04
    model = moir.to_openvino(moir.convert_model(FIXTURES / f"quantized_convolution.{suffix}"))
    actual = core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    np.testing.assert_allclose(actual, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("storage", "lowest", "highest"),
    [("u8", 0, 255), ("ui8", 0, 255), ("u4", 0, 15), ("i4", -8, 7), ("u8<3:200>", 3, 200), ("u16", 0, 65535)],
)
def test_storage_types(storage: str, lowest: int, highest: int, tmp_path: Path) -> None:
    kind = f"tensor<64x!quant.uniform<{storage}:f32, 0.5:{lowest + 3}>>"
    body = f"""
    %0 = stablehlo.uniform_quantize %x : (tensor<64xf32>) -> {kind}
    %1 = stablehlo.uniform_dequantize %0 : ({kind}) -> tensor<64xf32>
    return %1 : tensor<64xf32>"""
    x = (GENERATOR.normal(size=64) * highest / 2).astype(np.float32)
    actual = computed(body, tmp_path, [x], "%x: tensor<64xf32>", "tensor<64xf32>")
    np.testing.assert_array_equal(actual, (np.clip(np.rint(x / 0.5) + lowest + 3, lowest, highest) - lowest - 3) * 0.5)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("i8:f32, nan", "a scale of a quantized type is not a positive number"),
        ("i8:f32, -1.0", "a scale of a quantized type is not a positive number"),
        ("i8:f32, 1e999", "a scale of a quantized type is not a positive number"),
        ("u8:f32, 1.0:-1", "a zero point of a quantized type is not within its limits"),
        ("i8:f32, {1.0,2.0}", "a quantized type without an axis has 2 scales"),
        ("i8<-129:127>:f32, 1.0", "the limits -129 and 127 of a quantized type are not those of its storage type"),
        ("i8<9:9>:f32, 1.0", "the limits 9 and 9"),
        ("f32:f32, 1.0", "is not supported"),
    ],
)
def test_types_that_are_not_valid(kind: str, reason: str, tmp_path: Path) -> None:
    body = "    return %x : tensor<2xf32>"
    with pytest.raises(ModelFileError, match=reason):
        converted(body, tmp_path, f"%x: tensor<2xf32>, %y: tensor<2x!quant.uniform<{kind}>>", "tensor<2xf32>")
