"""Products by compressed weights, written as MatMulNBits, compute what the weights say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest
from openvino import opset13 as ops

import moir

GENERATOR = np.random.default_rng(8)
ROWS = 6


def compressed(element: str, shape: tuple[int, ...], scales: np.ndarray, zeros: np.ndarray | None, columns: int) -> tuple[Any, np.ndarray]:
    """A product of x [batch, columns] by (codes - zeros) · scales, as compression writes it, and these weights."""
    low, high = {"i4": (-8, 7), "u4": (0, 15), "i8": (-128, 127), "u8": (0, 255)}[element]
    codes = GENERATOR.integers(low, high + 1, shape)
    type_ = getattr(openvino.Type, element)
    x = ops.parameter([-1, columns], np.float32, name="x")
    stored: Any = codes.astype(f"{'u' if element[0] == 'u' else ''}int8")
    if "4" in element:
        # A tensor takes the memory of an array; a constant copies it.
        stored = openvino.Tensor(type_, openvino.Shape(shape))
        stored.data[...] = packed(codes).view(stored.data.dtype).reshape(stored.data.shape)
    weights = ops.convert(ops.constant(stored), "f32")
    if zeros is not None:
        weights = ops.subtract(weights, ops.constant(zeros.astype(np.float32)))
    weights = ops.multiply(weights, ops.constant(scales.astype(np.float32)))
    if len(shape) > 2:
        weights = ops.reshape(weights, ops.constant([ROWS, columns]), False)
    matrix = ((codes - (0 if zeros is None else zeros)) * scales.astype(np.float32)).reshape(ROWS, columns)
    return openvino.Model([ops.matmul(x, weights, False, True)], [x]), matrix.astype(np.float32)


def packed(codes: np.ndarray) -> np.ndarray:
    """Integers of 4 bits, two a byte."""
    nibbles = codes.reshape(-1).astype(np.uint8) & 15
    return nibbles[::2] | nibbles[1::2] << 4


@pytest.mark.parametrize("element", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("form", ["blocks", "rows", "odd-blocks"])
@pytest.mark.parametrize("has_zeros", [True, False])
def test_products(element: str, form: str, has_zeros: bool, tmp_path: Path) -> None:
    blocks, size = {"blocks": (4, 32), "rows": (1, 96), "odd-blocks": (3, 16)}[form]
    shape = (ROWS, blocks * size) if form == "rows" else (ROWS, blocks, size)
    each = (ROWS, 1) if form == "rows" else (ROWS, blocks, 1)
    is_unsigned = element[0] == "u"
    zeros = GENERATOR.integers(0, 15, each) - (0 if is_unsigned else 7) if has_zeros else None
    model, matrix = compressed(element, shape, GENERATOR.random(each) * 0.1 + 0.01, zeros, blocks * size)
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    moir.save_onnx(moir.convert_model(tmp_path / "m.xml", target="none"), tmp_path / "m.onnx", matmul_nbits=True)
    written = onnx.load(tmp_path / "m.onnx")
    assert [node.op_type for node in written.graph.node if node.op_type != "Identity"] == ["MatMulNBits"]
    assert [(each.domain, each.version) for each in written.opset_import][1:] == [("com.microsoft", 1)]
    x = GENERATOR.standard_normal((5, blocks * size)).astype(np.float32)
    (actual,) = onnxruntime.InferenceSession(tmp_path / "m.onnx").run(None, {"x": x})
    np.testing.assert_allclose(actual, x @ matrix.T, rtol=1e-4, atol=1e-4)


def test_what_has_no_such_form(tmp_path: Path) -> None:
    """Weights in blocks whose size is not a power of 2 stay a DequantizeLinear."""
    model, _ = compressed("u4", (ROWS, 2, 24), GENERATOR.random((ROWS, 2, 1)), None, 48)
    openvino.save_model(model, tmp_path / "m.xml", compress_to_fp16=False)
    moir.save_onnx(moir.convert_model(tmp_path / "m.xml", target="none"), tmp_path / "m.onnx", matmul_nbits=True)
    kinds = [node.op_type for node in onnx.load(tmp_path / "m.onnx").graph.node]
    assert "DequantizeLinear" in kinds
    assert "MatMulNBits" not in kinds
