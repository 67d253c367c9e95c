"""Weights of com.microsoft in blocks: tables of embeddings, products with 4-bit floats, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import check, node
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(14)
microsoft = partial(node, domain="com.microsoft")
INDICES = np.array([[0, 4, -1], [2, -5, 1]])


def packed(values: Array, bits: int) -> Array:
    """Unsigned integers in bytes, along the last dimension; the first one in the lowest bits."""
    count = 8 // bits
    missing = -values.shape[-1] % count
    values = np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, missing)])
    parts = values.reshape(*values.shape[:-1], -1, count)
    return np.bitwise_or.reduce(parts << np.arange(0, 8, bits), -1).astype(np.uint8)


def scales(*shape: int) -> Array:
    return RANDOM.uniform(0.01, 0.1, shape).astype(np.float32)


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize("width", [64, 48])
def test_embedding_of_bytes(bits: int, zero_points: bool, width: int) -> None:
    blocks = width // 16
    constants = {"d": packed(RANDOM.integers(0, 2**bits, (5, width)), bits), "s": scales(5, blocks)}
    if zero_points:
        constants["z"] = packed(RANDOM.integers(0, 2**bits, (5, blocks)), bits)
    names = ["d", "i", "s", *(["z"] if zero_points else [])]
    model = [microsoft("GatherBlockQuantized", names, ["y"], bits=bits, block_size=16, gather_axis=0, quantize_axis=1)]
    check(model, {"i": INDICES}, constants=constants)


@pytest.mark.parametrize("element", ["int4", "uint4"])
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize(("shape", "quantized", "gathered"), [((5, 32), 1, 0), ((5, 40), -1, 0), ((32, 5), 0, 1), ((5, 32, 3), 1, 2)])
def test_embedding_of_four_bits(element: str, zero_points: bool, shape: tuple[int, ...], quantized: int, gathered: int) -> None:
    blocks = [-(-size // 16) if axis == quantized % len(shape) else size for axis, size in enumerate(shape)]
    low, type_ = (-8, ml_dtypes.int4) if element == "int4" else (0, ml_dtypes.uint4)

    def integers(*sizes: int) -> onnx.TensorProto:
        return onnx.numpy_helper.from_array(RANDOM.integers(low, low + 16, sizes).astype(type_))

    constants: dict[str, Any] = {"d": integers(*shape), "s": scales(*blocks)} | ({"z": integers(*blocks)} if zero_points else {})
    for name in ("d", "z"):
        if name in constants:
            constants[name].name = name
    names = ["d", "i", "s", *(["z"] if zero_points else [])]
    model = [microsoft("GatherBlockQuantized", names, ["y"], block_size=16, gather_axis=gathered, quantize_axis=quantized)]
    check(model, {"i": INDICES % 3 if shape[-1] == 3 else INDICES}, constants=constants)


def test_embedding_of_half_precision() -> None:
    constants = {"d": packed(RANDOM.integers(0, 16, (5, 32)), 4), "s": scales(5, 2).astype(np.float16)}
    check([microsoft("GatherBlockQuantized", ["d", "i", "s"], ["y"], block_size=16)], {"i": INDICES}, constants=constants, atol=1e-3)


@pytest.mark.parametrize("element", ["float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize(("block", "shape"), [(16, (5, 2)), (0, (5, 1)), (0, (1, 1)), (16, (1, 2))])
def test_embedding_of_eight_bit_floats(element: str, block: int, shape: tuple[int, ...]) -> None:
    table = RANDOM.standard_normal((5, 32)).astype(getattr(ml_dtypes, element))
    constants = {"d": onnx.numpy_helper.from_array(table, "d"), "s": scales(*shape)}
    check([microsoft("GatherBlockQuantized", ["d", "i", "s"], ["y"], block_size=block)], {"i": INDICES}, constants=constants)


def test_index_outside_of_a_table() -> None:
    """The rows of indices outside of the table are zeros."""
    constants = {"d": packed(RANDOM.integers(0, 16, (5, 32)), 4), "s": scales(5, 2)}
    check([microsoft("GatherBlockQuantized", ["d", "i", "s"], ["y"], block_size=16)], {"i": np.array([5, 1, 900])}, constants=constants)


def test_zero_points_that_are_an_input() -> None:
    table, zeros = packed(RANDOM.integers(0, 16, (5, 32)), 4), packed(RANDOM.integers(0, 16, (5, 2)), 4)
    model = [microsoft("GatherBlockQuantized", ["d", "i", "s", "z"], ["y"], block_size=16)]
    with pytest.raises(ConversionError, match="its table is no constant"):
        check(model, {"i": INDICES, "z": zeros}, constants={"d": table, "s": scales(5, 2)}, expected=[INDICES])
    product = [microsoft("MatMulNBits", ["x", "b", "s", "z"], ["y"], K=32, N=5, bits=4, block_size=16)]
    x = np.ones((2, 32), np.float32)
    with pytest.raises(ConversionError, match="its zero points are no constant"):
        check(product, {"x": x, "z": zeros.ravel()}, constants={"b": table.reshape(5, 2, 8), "s": scales(10)}, expected=[x])


def test_table_that_is_an_input() -> None:
    inputs = {"d": packed(RANDOM.integers(0, 16, (5, 32)), 4), "i": INDICES}
    model = [microsoft("GatherBlockQuantized", ["d", "i", "s"], ["y"], block_size=16)]
    with pytest.raises(ConversionError, match="its table is no constant"):
        check(model, inputs, constants={"s": scales(5, 2)}, expected=[INDICES])


FP4 = [0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize(("rows", "columns", "block"), [(3, 32, 16), (5, 21, 16), (3, 64, 128)])
def test_product_of_four_bit_floats(kind: int, rows: int, columns: int, block: int) -> None:
    constants = {
        "b": RANDOM.integers(0, 256, (rows * columns + 1) // 2).astype(np.uint8),
        "s": scales(-(-rows * columns // block)),
    }
    x = RANDOM.standard_normal((2, 4, columns)).astype(np.float32)
    attributes = {"K": columns, "N": rows, "block_size": block, "quant_type": kind}
    check([microsoft("MatMulBnb4", ["x", "b", "s"], ["y"], **attributes)], {"x": x}, constants=constants, operations=1)


def test_product_of_four_bit_floats_that_are_not_transposed() -> None:
    """The CPU of ONNX Runtime has no such product: expected is that of numpy."""
    codes, factors = RANDOM.integers(0, 16, (3, 32)), scales(6)
    weights = np.array([*FP4, *np.negative(FP4)], np.float32)[codes] * np.repeat(factors, 16).reshape(3, 32)
    constants = {"b": (codes.reshape(-1, 2) @ [16, 1]).astype(np.uint8), "s": factors}
    x = RANDOM.standard_normal((2, 4, 3)).astype(np.float32)
    model = [microsoft("MatMulBnb4", ["x", "b", "s"], ["y"], K=32, N=3, block_size=16, quant_type=0, transB=0)]
    check(model, {"x": x}, constants=constants, expected=[x @ weights.astype(np.float32)])
