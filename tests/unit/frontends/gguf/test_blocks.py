"""Blocks of GGUF files against the formulas of ggml, one weight at a time."""

from __future__ import annotations

import struct
from collections.abc import Callable

import numpy as np
import pytest

from moir.dialects.computed_rows import ComputedRows
from moir.errors import ModelFileError
from moir.frontends.gguf.blocks import FORMATS
from moir.frontends.gguf.container import StoredTensor
from moir.frontends.gguf.tensor_types import TYPES_BY_NAME
from moir.frontends.gguf.weights import stored_weight
from tests.unit.frontends.stored_values import E2M1, values

Block = Callable[[bytes], list[float]]

NORMAL = (-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113)


def _half(block: bytes, start: int) -> float:
    return struct.unpack_from("<e", block, start)[0]


def _nibble(block: bytes, start: int, index: int, half: int = 16) -> int:
    """The code of a weight: in the low halves of `half` bytes, then in their high halves."""
    return block[start + index % half] >> 4 * (index // half) & 15


def _simple(start: int, *, offset: float = 0, minimum: bool = False, fifth: int | None = None) -> Block:
    def weights(block: bytes) -> list[float]:
        found: list[float] = []
        for index in range(32):
            code = _nibble(block, start, index)
            if fifth is not None:
                code |= (block[fifth + index // 8] >> index % 8 & 1) << 4
            found.append(_half(block, 0) * (code - offset) + (_half(block, 2) if minimum else 0))
        return found

    return weights


def _six_bits(packed: bytes, index: int) -> tuple[int, int]:
    """The scale and the minimum of a group of Q4_K and Q5_K."""
    if index < 4:
        return packed[index] & 63, packed[index + 4] & 63
    return packed[index + 4] & 15 | packed[index - 4] >> 6 << 4, packed[index + 4] >> 4 | packed[index] >> 6 << 4


def _k4(block: bytes, high: int | None) -> list[float]:
    found: list[float] = []
    for index in range(256):
        group, place = index // 32, index % 32
        scale, minimum = _six_bits(block[4:16], group)
        code = block[len(block) - 128 + group // 2 * 32 + place] >> 4 * (group % 2) & 15
        if high is not None:
            code |= (block[high + place] >> group & 1) << 4
        found.append(_half(block, 0) * scale * code - _half(block, 2) * minimum)
    return found


def _two_bits(block: bytes, start: int, index: int) -> int:
    half, rest = divmod(index, 128)
    return block[start + half * 32 + rest % 32] >> 2 * (rest // 32) & 3


def _q2_k(block: bytes) -> list[float]:
    return [
        _half(block, 80) * (block[index // 16] & 15) * _two_bits(block, 16, index) - _half(block, 82) * (block[index // 16] >> 4)
        for index in range(256)
    ]


def _q3_k(block: bytes) -> list[float]:
    found: list[float] = []
    for index in range(256):
        group = index // 16
        low = block[96 + group % 8] >> 4 * (group // 8) & 15
        scale = (low | (block[104 + group % 4] >> 2 * (group // 4) & 3) << 4) - 32
        mask = block[index % 32] >> index // 32 & 1
        found.append(_half(block, 108) * scale * (_two_bits(block, 32, index) - (0 if mask else 4)))
    return found


def _q6_k(block: bytes) -> list[float]:
    found: list[float] = []
    for index in range(256):
        half, rest = divmod(index, 128)
        quarter, place = divmod(rest, 32)
        low = block[64 * half + 32 * (quarter % 2) + place] >> 4 * (quarter // 2) & 15
        high = block[128 + 32 * half + place] >> 2 * quarter & 3
        scale = struct.unpack_from("<b", block, 192 + index // 16)[0]
        found.append(_half(block, 208) * scale * ((low | high << 4) - 32))
    return found


def _iq4_xs(block: bytes) -> list[float]:
    high = struct.unpack_from("<H", block, 2)[0]
    found: list[float] = []
    for index in range(256):
        group, place = divmod(index, 32)
        scale = (block[4 + group // 2] >> 4 * (group % 2) & 15 | (high >> 2 * group & 3) << 4) - 32
        found.append(_half(block, 0) * scale * NORMAL[_nibble(block, 8 + 16 * group, place)])
    return found


DEFINITIONS: dict[str, Block] = {
    "Q4_0": _simple(2, offset=8),
    "Q4_1": _simple(4, minimum=True),
    "Q5_0": _simple(6, offset=16, fifth=2),
    "Q5_1": _simple(8, minimum=True, fifth=4),
    "Q8_0": lambda block: [_half(block, 0) * code for code in struct.unpack_from("<32b", block, 2)],
    "Q2_K": _q2_k,
    "Q3_K": _q3_k,
    "Q4_K": lambda block: _k4(block, None),
    "Q5_K": lambda block: _k4(block, 16),
    "Q6_K": _q6_k,
    "IQ4_NL": lambda block: [_half(block, 0) * NORMAL[_nibble(block, 2, index)] for index in range(32)],
    "IQ4_XS": _iq4_xs,
    "TQ2_0": lambda block: [_half(block, 64) * (_two_bits(block, 0, index) - 1) for index in range(256)],
    "MXFP4": lambda block: [2.0 ** (block[0] - 127) * E2M1[_nibble(block, 1, index)] for index in range(32)],
}

HALVES = {"Q6_K": (208,), "Q3_K": (108,), "Q2_K": (80, 82), "TQ2_0": (64,), "MXFP4": ()} | dict.fromkeys(
    ("Q4_1", "Q5_1", "Q4_K", "Q5_K"), (0, 2)
)
"""Where blocks have numbers of half precision, by default at 0."""


def _tensor(name: str, lead: tuple[int, ...], columns: int = 256) -> StoredTensor:
    """A tensor of random blocks, the first of which has the scale 0."""
    kind, random = TYPES_BY_NAME[name], np.random.default_rng(0)
    blocks = random.integers(0, 256, (*lead, columns // kind.weights, kind.bytes), dtype=np.uint8)
    for start in HALVES.get(name, (0,)):
        blocks[..., start : start + 2] = random.uniform(0.001, 0.01, (*blocks.shape[:-1], 1)).astype(np.float16).view(np.uint8)
    start = HALVES.get(name, (0,))[:1]
    if start:
        blocks[(0,) * (blocks.ndim - 1)][start[0] : start[0] + 2] = 0
    else:
        blocks[..., 0] = random.integers(110, 140, blocks.shape[:-1])
    return StoredTensor(name, kind, (*lead, columns), blocks.reshape(*lead, -1), "model.gguf")


def test_every_format_has_a_definition() -> None:
    assert DEFINITIONS.keys() == FORMATS.keys()


@pytest.mark.parametrize("lead", [(3,), (2, 2)])
@pytest.mark.parametrize("name", FORMATS)
def test_values(name: str, lead: tuple[int, ...]) -> None:
    tensor = _tensor(name, lead)
    blocks = tensor.content.reshape(-1, tensor.type.bytes)
    expected = np.array([DEFINITIONS[name](block.tobytes()) for block in blocks]).reshape(tensor.shape)
    weight = stored_weight(tensor)
    assert weight.shape == tensor.shape
    # Scales and zero points of f32 are rounded once each.
    np.testing.assert_allclose(values(weight), expected, rtol=0, atol=np.abs(expected).max() * 2e-7)


@pytest.mark.parametrize("name", FORMATS)
def test_large_tensors_are_computed_when_they_are_written(name: str) -> None:
    weight = stored_weight(_tensor(name, (1200,), 512))
    assert isinstance(weight.codes.values, ComputedRows)
    assert weight.codes.values.nbytes == weight.codes.nbytes
    few = stored_weight(_tensor(name, (1200,), 512)).rows(lambda array: array[7:9])
    np.testing.assert_array_equal(values(few), values(weight)[7:9])


def test_numbers_are_views() -> None:
    content = np.arange(12, dtype=np.float16).reshape(3, 4)
    weight = stored_weight(StoredTensor("w", TYPES_BY_NAME["F16"], (3, 4), content.view(np.uint8), "model.gguf"))
    assert weight.is_plain
    assert np.may_share_memory(weight.codes.array, content)
    np.testing.assert_array_equal(weight.codes.array, content)


def test_unknown_blocks_are_refused() -> None:
    content = np.zeros((1, 66), np.uint8)
    with pytest.raises(ModelFileError, match="'w' has the type IQ2_XXS, whose blocks are not supported; quantize the model to one of Q4_0"):
        stored_weight(StoredTensor("w", TYPES_BY_NAME["IQ2_XXS"], (1, 256), content, "model.gguf"))
