"""Elements whose bits are read as another type; numpy's views say what they are."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import openvino
import pytest

import moir
from moir.dialects.opset.infrastructure import Constant
from moir.errors import MoirError
from tests.numerical.runtime import core
from tests.numerical.stablehlo.test_operations import converted

GENERATOR = np.random.default_rng(16)
NAMES = {
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "c64": np.dtype(np.complex64),
    "c128": np.dtype(np.complex128),
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i8": np.dtype(np.int8),
    "i16": np.dtype(np.int16),
    "i32": np.dtype(np.int32),
    "i64": np.dtype(np.int64),
    "ui8": np.dtype(np.uint8),
    "ui16": np.dtype(np.uint16),
    "ui32": np.dtype(np.uint32),
    "ui64": np.dtype(np.uint64),
}
ELEMENTS = {"c64": "complex<f32>", "c128": "complex<f64>"}


def type_of(array: np.ndarray, name: str) -> str:
    return f"tensor<{'x'.join([*map(str, array.shape), ELEMENTS.get(name, name)])}>"


def numbers(name: str, shape: tuple[int, ...]) -> np.ndarray:
    """Random elements; floats are neither NaN nor subnormal."""
    dtype = NAMES[name]
    if dtype.kind in "iu":
        return GENERATOR.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)
    values = GENERATOR.standard_normal((*shape, 2)) * 10.0 ** GENERATOR.integers(-3, 4, (*shape, 2))
    return values.view(np.complex128)[..., 0].astype(dtype) if dtype.kind == "c" else values[..., 0].astype(dtype)


def bits_as(x: np.ndarray, name: str) -> np.ndarray:
    """The bytes of elements as another type; the last axis has the parts of an element, or is appended."""
    dtype = NAMES[name]
    if dtype.itemsize > x.dtype.itemsize:
        return np.ascontiguousarray(x).view(dtype)[..., 0]
    return x[..., np.newaxis].view(dtype) if dtype.itemsize < x.dtype.itemsize else x.view(dtype)


def pair_of(source: str, target: str) -> tuple[np.ndarray, np.ndarray]:
    """Elements, and the same bytes as another type.

    The narrower ones of two floats are random, since these could be NaN, whose bits are not kept; else the float.
    """
    narrow, wide = sorted((source, target), key=lambda name: (NAMES[name].itemsize, name[0] not in "bcf"))
    is_narrow = narrow[0] in "bcf"
    ratio = NAMES[wide].itemsize // NAMES[narrow].itemsize
    values = numbers(narrow if is_narrow else wide, (3, 2, ratio) if is_narrow and ratio > 1 else (3, 2))
    others = bits_as(values, wide if is_narrow else narrow)
    return (values, others) if (source == narrow) == is_narrow else (others, values)


def real(array: np.ndarray) -> np.ndarray:
    """Complex numbers as pairs of real ones, which inputs and outputs of an IR are."""
    return np.stack([np.real(array), np.imag(array)], axis=-1) if array.dtype.kind == "c" else array


def test_bits_of_variables(tmp_path: Path) -> None:
    """One program of all pairs of types whose bits are computed."""
    narrow = ("ui8", "i8", "ui16", "i16", "f16", "bf16", "f32", "i32", "ui32", "c64")
    pairs = [(a, b) for a in narrow for b in narrow if a != b]
    lines, arguments, results, inputs, expected = [], [], [], [], []
    for index, (source, target) in enumerate(pairs):
        x, y = pair_of(source, target)
        types = type_of(x, source), type_of(y, target)
        lines.append(f"    %r{index} = stablehlo.bitcast_convert %a{index} : ({types[0]}) -> {types[1]}")
        arguments.append(f"%a{index}: {types[0]}")
        results.append(types[1])
        inputs.append(real(x))
        expected.append(real(y))
    body = "\n".join(["", *lines, f"    return {', '.join(f'%r{index}' for index in range(len(pairs)))} : {', '.join(results)}"])
    model = converted(body, tmp_path, ", ".join(arguments), f"({', '.join(results)})")
    compiled = core().compile_model(moir.to_openvino(model), "CPU")
    tensors = [
        openvino.Tensor(each.view(np.uint16), each.shape, openvino.Type.bf16) if each.dtype == NAMES["bf16"] else each for each in inputs
    ]
    actual = compiled(tensors)
    for index, (pair, reference) in enumerate(zip(pairs, expected, strict=True)):
        value = actual[index].view(NAMES["bf16"]) if pair[1] == "bf16" else actual[index]
        np.testing.assert_array_equal(value, reference, err_msg=f"{pair[0]} as {pair[1]}")


@pytest.mark.parametrize("source", ["f64", "i64", "ui64", "c64", "c128", "f32", "i8"])
def test_bits_of_constants(source: str, tmp_path: Path) -> None:
    """Types of 64 bits are constants, which are exact."""
    for target in ("f64", "i64", "ui64", "c64", "c128", "f32", "i16"):
        if {source, target} == {"c64", "c128"}:
            continue
        x, y = pair_of(source, target)
        literal = f'dense<"0x{np.ascontiguousarray(x).tobytes().hex()}">'
        types = type_of(x, source), type_of(y, target)
        body = f"""
    %c = stablehlo.constant {literal} : {types[0]}
    %0 = stablehlo.bitcast_convert %c : ({types[0]}) -> {types[1]}
    return %0 : {types[1]}"""
        compiled = converted(body, tmp_path, "", types[1])
        (data,) = [op.value.array for op in compiled.walk() if isinstance(op, Constant)]
        np.testing.assert_array_equal(data, real(y), err_msg=f"{source} as {target}")


def test_bits_as_booleans(tmp_path: Path) -> None:
    """Booleans are single bits."""
    body = """
    %0 = stablehlo.bitcast_convert %a : (tensor<3xi16>) -> tensor<3x16xi1>
    %1 = stablehlo.bitcast_convert %0 : (tensor<3x16xi1>) -> tensor<3xi16>
    %2 = stablehlo.xor %1, %b : tensor<3xi16>
    return %0, %2 : tensor<3x16xi1>, tensor<3xi16>"""
    x = np.array([1, -2, 0x1234], np.int16)
    model = converted(body, tmp_path, "%a: tensor<3xi16>, %b: tensor<3xi16>", "(tensor<3x16xi1>, tensor<3xi16>)")
    actual = core().compile_model(moir.to_openvino(model), "CPU")([x, np.zeros(3, np.int16)])
    bits = np.unpackbits(x.view(np.uint8).reshape(3, 2), axis=1, bitorder="little")
    np.testing.assert_array_equal(actual[0], bits.astype(bool))
    np.testing.assert_array_equal(actual[1], x)


def test_computed_bits_of_64_bits_are_refused(tmp_path: Path) -> None:
    body = """
    %0 = stablehlo.bitcast_convert %a : (tensor<3xf64>) -> tensor<3xi64>
    return %0 : tensor<3xi64>"""
    with pytest.raises(MoirError, match="the bits of f64 as i64 are not computed; those of f32, f16, bf16 and integers"):
        converted(body, tmp_path, "%a: tensor<3xf64>", "tensor<3xi64>")
