"""The types of tensors against their definitions, one number at a time."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from moir.dialects.computed_rows import ComputedRows
from moir.frontends.gguf.block_types import TYPES
from moir.frontends.gguf.container import StoredTensor
from moir.frontends.gguf.weights import weight_of
from tests.unit.frontends.stored_values import E2M1, values

Array = np.ndarray[Any, Any]

BY_NAME = {each.name: each for each in TYPES.values()}

TABLE = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def half(block: bytes, place: int) -> float:
    """The number f16 at a byte."""
    return float(struct.unpack_from("<e", block, place)[0])


def nibble(block: bytes, start: int, index: int, size: int = 16) -> int:
    """The code of four bits of a number: low halves of `size` bytes first, then high ones, then those of further bytes."""
    chunk, place = divmod(index, 2 * size)
    return block[start + chunk * size + place % size] >> 4 * (place // size) & 15


def fifth(block: bytes, start: int, index: int) -> int:
    """The highest bit of a code of five bits, at its place."""
    return (int.from_bytes(block[start : start + 4], "little") >> index & 1) << 4


def six_bits(block: bytes, group: int) -> tuple[int, int]:
    """The scale and the minimum of a group of Q4_K and Q5_K."""
    stored = block[4:16]
    if group < 4:
        return stored[group] & 63, stored[group + 4] & 63
    return (
        stored[group + 4] & 15 | (stored[group - 4] >> 6) << 4,
        stored[group + 4] >> 4 | (stored[group] >> 6) << 4,
    )


def two_bits(block: bytes, start: int, index: int) -> int:
    """The code of two bits of a number of Q2_K and Q3_K."""
    part, place = divmod(index, 128)
    return block[start + 32 * part + place % 32] >> 2 * (place // 32) & 3


def q3_k(block: bytes, index: int) -> float:
    """d · (s - 32) · (code - 4)"""
    group = index // 16
    scales = block[96:108]
    scale = (scales[group % 8] >> 4 * (group // 8) & 15) | (scales[8 + group % 4] >> 2 * (group // 4) & 3) << 4
    highest = block[index % 32] >> index // 32 & 1
    return half(block, 108) * (scale - 32) * (two_bits(block, 32, index) + 4 * highest - 4)


def q5_k(block: bytes, index: int) -> float:
    """d · s · code - dmin · m"""
    scale, minimum = six_bits(block, index // 32)
    code = nibble(block, 48, index, 32) | (block[16 + index % 32] >> index // 32 & 1) << 4
    return half(block, 0) * scale * code - half(block, 2) * minimum


def q4_k(block: bytes, index: int) -> float:
    """d · s · code - dmin · m"""
    scale, minimum = six_bits(block, index // 32)
    return half(block, 0) * scale * nibble(block, 16, index, 32) - half(block, 2) * minimum


def q6_k(block: bytes, index: int) -> float:
    """d · s · (code - 32)"""
    part, place = divmod(index, 128)
    low = block[64 * part + place % 64] >> 4 * (place // 64) & 15
    high = block[128 + 32 * part + place % 32] >> 2 * (place // 32) & 3
    (scale,) = struct.unpack_from("<b", block, 192 + index // 16)
    return half(block, 208) * scale * ((low | high << 4) - 32)


def iq4_xs(block: bytes, index: int) -> float:
    """d · (s - 32) · table[code]"""
    group = index // 32
    scale = (block[4 + group // 2] >> 4 * (group % 2) & 15) | (int.from_bytes(block[2:4], "little") >> 2 * group & 3) << 4
    return half(block, 0) * (scale - 32) * TABLE[nibble(block, 8, index)]


DEFINITIONS: dict[str, Callable[[bytes, int], float]] = {
    "Q4_0": lambda block, i: half(block, 0) * (nibble(block, 2, i) - 8),
    "Q4_1": lambda block, i: half(block, 0) * nibble(block, 4, i) + half(block, 2),
    "Q5_0": lambda block, i: half(block, 0) * ((nibble(block, 6, i) | fifth(block, 2, i)) - 16),
    "Q5_1": lambda block, i: half(block, 0) * (nibble(block, 8, i) | fifth(block, 4, i)) + half(block, 2),
    "Q8_0": lambda block, i: half(block, 0) * struct.unpack_from("<b", block, 2 + i)[0],
    "IQ4_NL": lambda block, i: half(block, 0) * TABLE[nibble(block, 2, i)],
    "MXFP4": lambda block, i: 2.0 ** (block[0] - 127) * E2M1[nibble(block, 1, i)],
    "Q2_K": lambda block, i: half(block, 80) * (block[i // 16] & 15) * two_bits(block, 16, i) - half(block, 82) * (block[i // 16] >> 4),
    "Q3_K": q3_k,
    "Q4_K": q4_k,
    "Q5_K": q5_k,
    "Q6_K": q6_k,
    "Q8_K": lambda block, i: struct.unpack_from("<f", block)[0] * struct.unpack_from("<b", block, 4 + i)[0],
    "IQ4_XS": iq4_xs,
}

HALVES = {"Q4_1": (0, 2), "Q5_1": (0, 2), "Q2_K": (80, 82), "Q3_K": (108,), "Q4_K": (0, 2), "Q5_K": (0, 2), "Q6_K": (208,)}
"""The places of numbers f16 in blocks, where they are not 0 alone."""


def random_rows(name: str, count: int, blocks: int) -> Array:
    """Random rows of blocks [rows, bytes], with finite scales, some of them 0."""
    random = np.random.default_rng(1)
    rows = random.integers(0, 256, (count, blocks, BY_NAME[name].size), dtype=np.uint8)
    if name == "MXFP4":
        rows[..., 0] = random.integers(110, 140, rows.shape[:2])
    elif name == "Q8_K":
        rows[..., :4] = random.uniform(-1, 1, (count, blocks, 1)).astype("<f4").view(np.uint8)
    else:
        for place in HALVES.get(name, (0,)):
            rows[..., place : place + 2] = random.uniform(-1, 1, (count, blocks, 1)).astype("<f2").view(np.uint8)
            rows[0, 0, place : place + 2] = 0 if place == HALVES.get(name, (0,))[0] else rows[0, 0, place : place + 2]
    if name == "Q4_K":
        rows[1, 0, 4] &= 0xC0
    return rows.reshape(count, -1)


def tensor(name: str, rows: Array, shape: tuple[int, ...]) -> StoredTensor:
    """A tensor over rows of blocks."""
    return StoredTensor("w", BY_NAME[name], shape, rows)


@pytest.mark.parametrize("name", DEFINITIONS)
def test_values(name: str) -> None:
    kind = BY_NAME[name]
    rows = random_rows(name, 2, 2)
    blocks = [row[start : start + kind.size].tobytes() for row in rows for start in (0, kind.size)]
    expected = np.array([DEFINITIONS[name](block, index) for block in blocks for index in range(kind.count)]).reshape(2, -1)
    weight = weight_of(tensor(name, rows, expected.shape))
    assert weight is not None
    # Where there are minima, they are divided by the scales in f32.
    tolerance = 0.0 if kind.minimum is None else 1e-6 * float(np.abs(expected).max())
    np.testing.assert_allclose(values(weight), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", ["Q4_0", "Q4_K", "Q5_K", "Q6_K"])
def test_large_tensors_are_taken_apart_when_they_are_read(name: str) -> None:
    kind, count = BY_NAME[name], 640
    rows = random_rows(name, count, 1024 // kind.count)
    weight = weight_of(tensor(name, rows, (count, 1024)))
    assert weight is not None
    assert isinstance(weight.codes.values, ComputedRows)
    few = weight_of(tensor(name, rows[-2:], (2, 1024)))
    assert few is not None
    np.testing.assert_array_equal(values(weight.rows(lambda array: array[::-1]))[1::-1], values(few))


def test_matrices_of_experts() -> None:
    rows = random_rows("Q5_K", 6, 2)
    matrix, experts = (weight_of(tensor("Q5_K", rows.reshape(*outer, -1), (*outer, 512))) for outer in ((6,), (2, 3)))
    assert matrix is not None
    assert experts is not None
    assert experts.codes.shape == (2, 3, 16, 32)
    np.testing.assert_array_equal(values(experts).reshape(6, 512), values(matrix))


def test_tables_of_two_bit_codes_have_four_bits() -> None:
    rows = random_rows("Q2_K", 2, 1)
    matrix, table = (weight_of(tensor("Q2_K", rows, (2, 256)), is_table=each) for each in (False, True))
    assert matrix is not None
    assert table is not None
    assert [str(each.codes.element) for each in (matrix, table)] == ["ui2", "ui4"]
    np.testing.assert_array_equal(values(table), values(matrix))


@pytest.mark.parametrize("shape", [(32,), (1, 1, 1, 32)])
def test_codes_are_of_matrices(shape: tuple[int, ...]) -> None:
    rows = random_rows("Q8_0", 1, 1)
    assert weight_of(tensor("Q8_0", rows.reshape(*shape[:-1], -1), shape)) is None
