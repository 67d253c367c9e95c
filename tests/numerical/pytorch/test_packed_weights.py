"""Products with weights that a processor packed, against numpy."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from moir.lowering.pytorch.quantization.packed import unpacked_tiles
from tests.numerical.pytorch.programs import Program, Type
from tests.numerical.runtime import Array, compare, run

RANDOM = np.random.default_rng(37)
GROUP = 32

VECTORS = {"avx512": 4, "avx2": 2}
"""The groups of 16 rows that a full block has."""


def packed(integers: Array, layout: str) -> Array:
    """Integers [N, K] as a processor packs them: a byte of two for each column, block by block of rows."""
    rows, columns = integers.shape
    block = {"avx512": 64, "avx2": 32, "scalar": 32, "neon": 16}[layout]
    stored: list[int] = []
    for start in range(0, rows, block):
        part = integers[start : start + block]
        for column in part.T.tolist():
            if layout in VECTORS and len(part) == block:
                low, high = column[: block // 2], column[block // 2 :]
            else:
                low, high = column[::2], column[1::2]
            stored += [second << 4 | first for first, second in zip(low, high, strict=True)]
    return np.array(stored, np.uint8).reshape(rows, columns // 2)


def program_of(path: Path, integers: Array, parameters: Array, weights: Array, kind: str) -> tuple[Path, Array, Array]:
    """A program of a product, its input and its result."""
    x = RANDOM.standard_normal((3, integers.shape[1])).astype(np.float32)
    program = Program()
    operands = [("self", program.input("x", "f32", x.shape)), ("mat2", program.weight("w", weights, "buffer"))]
    scales = ("qScaleAndZeros", program.weight("s", parameters, "buffer"))
    program.output(program.node(f"aten.{kind}.default", [*operands, ("qGroupSize", GROUP), scales], "f32"))
    program.save(path / "m.pt2")
    scale, zero = (np.repeat(parameters[..., index].T, GROUP, 1) for index in (0, 1))
    return path / "m.pt2", x, x @ ((integers.astype(np.float32) - 8) * scale + zero).T


def parameters_of(integers: Array) -> Array:
    """Scales and zeros [K / G, N, 2]."""
    return RANDOM.uniform(0.1, 1, (integers.shape[1] // GROUP, integers.shape[0], 2)).astype(np.float32)


@pytest.mark.parametrize("layout", ["avx512", "avx2", "scalar", "neon"])
@pytest.mark.parametrize("rows", [16, 48, 64, 160])
def test_weights_that_a_processor_packed(tmp_path: Path, layout: str, rows: int) -> None:
    integers = RANDOM.integers(0, 16, (rows, 64))
    model, x, expected = program_of(tmp_path, integers, parameters_of(integers), packed(integers, layout), "_weight_int4pack_mm_for_cpu")
    compare(run(moir.to_openvino(moir.convert_model(model, packing=layout)), {"x": x}), [expected], rtol=1e-3, atol=1e-3)


def test_layouts_that_are_the_same_need_no_name(tmp_path: Path) -> None:
    integers = RANDOM.integers(0, 16, (16, 64))
    parameters = parameters_of(integers)
    # Without a scale no zero point says what a group's constant is.
    parameters[0, :3, 0] = 0
    model, x, expected = program_of(tmp_path, integers, parameters, packed(integers, "avx2"), "_weight_int4pack_mm_for_cpu")
    compare(run(moir.to_openvino(moir.convert_model(model)), {"x": x}), [expected], rtol=1e-3, atol=1e-3)


def test_the_exporter_names_the_layout(tmp_path: Path) -> None:
    integers = RANDOM.integers(0, 16, (64, 64))
    model, x, expected = program_of(tmp_path, integers, parameters_of(integers), packed(integers, "avx2"), "_weight_int4pack_mm_for_cpu")
    with zipfile.ZipFile(model, "a", zipfile.ZIP_STORED) as archive:
        archive.writestr("m/extra/packing", "AVX2")
    compare(run(moir.to_openvino(moir.convert_model(model)), {"x": x}), [expected], rtol=1e-3, atol=1e-3)


def test_layouts_that_differ_are_asked_for(tmp_path: Path) -> None:
    integers = RANDOM.integers(0, 16, (64, 64))
    model, *_ = program_of(tmp_path, integers, parameters_of(integers), packed(integers, "avx2"), "_weight_int4pack_mm_for_cpu")
    with pytest.raises(ConversionError, match="--packing avx512 or avx2"):
        moir.convert_model(model)
    with pytest.raises(ConversionError, match="'sse' is not known"):
        moir.convert_model(model, packing="sse")


def tiles_of(integers: Array, inner: int) -> Array:
    """Integers [N, K] as the tiles of tensor cores: eight of a row and two tiles of 16 columns in a word."""
    rows, columns = integers.shape
    tiles = np.zeros((rows // 8, columns // (16 * inner), 32, inner // 2), np.uint32)
    for tile, group, lane, pair in np.ndindex(*tiles.shape):
        bases = [(group * inner + 2 * pair + each) * 16 + lane % 4 * 2 for each in (0, 1)]
        row = integers[tile * 8 + lane // 4]
        values = [int(row[base + step]) for base in bases for step in (0, 1, 8, 9)]
        tiles[tile, group, lane, pair] = sum(values[index] << 4 * place for place, index in enumerate((0, 2, 4, 6, 1, 3, 5, 7)))
    return tiles.view(np.int32)


@pytest.mark.parametrize("inner", [2, 4, 8])
def test_weights_that_a_gpu_packed(tmp_path: Path, inner: int) -> None:
    integers = RANDOM.integers(0, 16, (16, 256))
    tiles = tiles_of(integers, inner)
    np.testing.assert_array_equal(unpacked_tiles(tiles), integers)
    model, x, expected = program_of(tmp_path, integers, parameters_of(integers), tiles, "_weight_int4pack_mm")
    with pytest.raises(ConversionError, match="--packing cuda"):
        moir.convert_model(model)
    compare(run(moir.to_openvino(moir.convert_model(model, packing="cuda")), {"x": x}), [expected], rtol=1e-3, atol=1e-3)


def test_tiles_of_a_processor(tmp_path: Path) -> None:
    """Up to torch 2.4 the bytes that a processor packed have the shape of CUDA's tiles."""
    integers = RANDOM.integers(0, 16, (64, 128))
    tiles = packed(integers, "avx512").view(np.int32).reshape(8, 2, 32, 2)
    model, x, expected = program_of(tmp_path, integers, parameters_of(integers), tiles, "_weight_int4pack_mm")
    compare(run(moir.to_openvino(moir.convert_model(model, packing="avx512")), {"x": x}), [expected], rtol=1e-3, atol=1e-3)


def test_weights_of_8_bits(tmp_path: Path) -> None:
    x = RANDOM.standard_normal((3, 64)).astype(np.float32)
    weights, scales = RANDOM.integers(-128, 128, (32, 64)).astype(np.int8), RANDOM.random(32).astype(np.float32)
    program = Program()
    arguments = [("self", program.input("x", "f32", x.shape)), ("mat2", program.weight("w", weights, "buffer"))]
    arguments.append(("scales", program.weight("s", scales, "buffer")))
    program.output(program.node("aten._weight_int8pack_mm.default", arguments, "f32"))
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": x})
    compare(results, [x @ (weights * scales[:, None]).T], rtol=1e-3, atol=1e-2)


def scaled(shapes: tuple[Any, Any], path: Path) -> tuple[Path, list[Array]]:
    """A program that multiplies floats of 8 bits with scales of these shapes, and its inputs."""
    # All of them are exact in 8 bits.
    x, weights = (RANDOM.integers(-8, 9, shape).astype(np.float32) / 4 for shape in ((16, 32), (32, 8)))
    inputs = [x, weights, *(RANDOM.uniform(0.1, 1, shape).astype(np.float32) for shape in shapes), RANDOM.random(8).astype(np.float32)]
    program = Program()
    values = [program.input(name, "f32", each.shape) for name, each in zip("xwabc", inputs, strict=True)]
    operands = [program.node("aten.to.dtype", [("self", each), ("dtype", Type("f8"))], "f8") for each in values[:2]]
    names = ("self", "mat2", "scale_a", "scale_b", "bias")
    program.output(program.node("aten._scaled_mm.default", list(zip(names, [*operands, *values[2:]], strict=True)), "f32"))
    program.save(path / "m.pt2")
    return path / "m.pt2", inputs


@pytest.mark.parametrize("shapes", [((), ()), ((16, 1), (1, 8)), ((1,), (1, 1))])
def test_floats_of_8_bits_with_scales(tmp_path: Path, shapes: tuple[Any, Any]) -> None:
    model, inputs = scaled(shapes, tmp_path)
    x, weights, scale_a, scale_b, bias = inputs
    results = run(moir.to_openvino(moir.convert_model(model)), dict(zip("xwabc", inputs, strict=True)))
    compare(results, [x @ weights * scale_a * scale_b + bias], rtol=1e-3, atol=1e-4)


def test_scales_of_blocks_are_refused(tmp_path: Path) -> None:
    model, _ = scaled(((16, 4), (1, 8)), tmp_path)
    with pytest.raises(ConversionError, match="not one number for each row"):
        moir.convert_model(model)
