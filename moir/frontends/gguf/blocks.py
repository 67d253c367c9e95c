"""The blocks of quantized tensors in GGUF files -> codes, scales and zero points of groups, value for value.

    weight = (code - zero point) · scale

Blocks whose weights are d · q + m have the zero point -m / d, which is a fraction; the weights then differ from those
of the formula by one rounding of f32. Where d is 0, all codes are 0 and the scale is 1, so that the weights are m
exactly. Functions take blocks ui8 […, blocks, bytes of a block]; groups of 4-bit and 2-bit codes are packed as
constants of the IR are, the first code in the lowest bits.

Source: ggml-quants.c of ggml (`dequantize_row_…`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.memory_map import Array
from moir.frontends.gguf.packing import bytes_of_nibbles, halves_in_pairs, pairs_of_nibbles, quarters
from moir.records import Record

Parts = tuple[Array, Array]
"""The scale and the minimum of each group, f32 […, groups of a block]: a weight is scale · code - minimum."""


class BlockFormat(Record):
    """How the blocks of a type become codes.

    Args:
        group: number of weights that share a scale.
        element: the element type of codes.
        codes: the codes of blocks as bytes: […, blocks, groups of a block, bytes of a group].
        scale: the scales of blocks, f16 or f32: […, blocks, groups of a block]; None if `parts` computes them, and
            f8e8m0 as bytes.
        parts: scales and minima; None if there are no minima.
        scale_element: the element type of scales.
    """

    group: int
    element: Attribute
    codes: Callable[[Array], Array]
    scale: Callable[[Array], Array] | None = None
    parts: Callable[[Array], Parts] | None = None
    scale_element: Attribute = element_types.f32


def half(blocks: Array, start: int) -> Array:
    """The number of half precision at a byte of each block, f16 […, 1]."""
    return np.ascontiguousarray(blocks[..., start : start + 2]).view(np.float16)


def single(blocks: Array, start: int) -> Array:
    """The same as f32."""
    return half(blocks, start).astype(np.float32)


def scale_of(parts: Parts) -> Array:
    """The scale of each group, 1 where it is 0."""
    scale, _ = parts
    return np.where(scale == 0, np.float32(1), scale)


def zero_point_of(parts: Parts) -> Array:
    """The zero point of each group, which may be a fraction."""
    _, minimum = parts
    return minimum / scale_of(parts)


def _without_empty(codes: Array, parts: Parts) -> Array:
    """Codes […, groups, bytes] with 0 in groups whose scale is 0."""
    empty = parts[0] == 0
    return np.where(empty[..., None], np.uint8(0), codes) if empty.any() else codes


def _fifth_bits(blocks: Array, start: int) -> Array:
    """The fifth bits of 32 weights, which are the bits of 4 bytes, ui8 […, 32] of 0 or 16."""
    return np.unpackbits(blocks[..., start : start + 4], axis=-1, bitorder="little") << np.uint8(4)


def _signed(codes: Array, zero: int) -> Array:
    """Codes ui8 less a number, as the bytes of integers si8."""
    return codes - np.uint8(zero)


def _q4_0(blocks: Array) -> Array:
    # Toggling the highest bit of a code of 4 bits subtracts 8, in two's complement.
    return halves_in_pairs(blocks[..., 2:])[..., None, :] ^ np.uint8(0x88)


def _parts_of_1(blocks: Array) -> Parts:
    return single(blocks, 0), -single(blocks, 2)


def _q4_1(blocks: Array) -> Array:
    return _without_empty(halves_in_pairs(blocks[..., 4:])[..., None, :], _parts_of_1(blocks))


def _q5_0(blocks: Array) -> Array:
    return _signed(bytes_of_nibbles(blocks[..., 6:]) | _fifth_bits(blocks, 2), 16)[..., None, :]


def _q5_1(blocks: Array) -> Array:
    codes = bytes_of_nibbles(blocks[..., 8:]) | _fifth_bits(blocks, 4)
    return _without_empty(codes[..., None, :], _parts_of_1(blocks))


def _parts_of_k4(blocks: Array) -> Parts:
    """Q4_K and Q5_K: 8 scales and 8 minima of 6 bits in 12 bytes, times two numbers of half precision."""
    low, middle, high = (blocks[..., start : start + 4] for start in (4, 8, 12))
    scales = np.concatenate([low & 63, high & 15 | low >> 6 << 4], -1)
    minima = np.concatenate([middle & 63, high >> 4 | middle >> 6 << 4], -1)
    return single(blocks, 0) * scales, single(blocks, 2) * minima


def _chunks_of_64(blocks: Array) -> Array:
    """The last 128 bytes of blocks, as [… , 4, 32]: low bits of 32 weights and high bits of the next 32."""
    return blocks[..., -128:].reshape(*blocks.shape[:-1], 4, 32)


def _q4_k(blocks: Array) -> Array:
    return _without_empty(halves_in_pairs(_chunks_of_64(blocks)).reshape(*blocks.shape[:-1], 8, 16), _parts_of_k4(blocks))


def _q5_k(blocks: Array) -> Array:
    codes = bytes_of_nibbles(_chunks_of_64(blocks)).reshape(*blocks.shape[:-1], 8, 32)
    bits = np.arange(8, dtype=np.uint8)[:, None]
    codes = codes | (blocks[..., None, 16:48] >> bits & 1) << np.uint8(4)
    return _without_empty(codes, _parts_of_k4(blocks))


def _parts_of_q2_k(blocks: Array) -> Parts:
    return single(blocks, 80) * (blocks[..., :16] & 15), single(blocks, 82) * (blocks[..., :16] >> 4)


def _q2_k(blocks: Array) -> Array:
    codes = quarters(blocks[..., 16:80].reshape(*blocks.shape[:-1], 2, 32)).reshape(*blocks.shape[:-1], 16, 4, 4)
    packed = codes[..., 0] | codes[..., 1] << 2 | codes[..., 2] << 4 | codes[..., 3] << 6
    return _without_empty(packed, _parts_of_q2_k(blocks))


def _q3_k(blocks: Array) -> Array:
    codes = quarters(blocks[..., 32:96].reshape(*blocks.shape[:-1], 2, 32)).reshape(*blocks.shape[:-1], 8, 32)
    bits = np.arange(8, dtype=np.uint8)[:, None]
    # The third bit of a code is that of the mask; all codes less 4 are those of the formula.
    codes = codes | (blocks[..., None, :32] >> bits & 1) << np.uint8(2)
    return pairs_of_nibbles((codes - np.uint8(4)) & 15).reshape(*blocks.shape[:-1], 16, 8)


def _scales_of_q3_k(blocks: Array) -> Array:
    """16 scales of 6 bits, less 32, in 12 bytes."""
    packed = blocks[..., 96:108]
    low = np.concatenate([packed[..., :8] & 15, packed[..., :8] >> 4], -1)
    high = np.concatenate([packed[..., 8:] >> shift & 3 for shift in (0, 2, 4, 6)], -1)
    return single(blocks, 108) * ((low | high << 4).astype(np.float32) - 32)


def _q6_k(blocks: Array) -> Array:
    shape = blocks.shape[:-1]
    low = blocks[..., :128].reshape(*shape, 2, 2, 32)
    high = quarters(blocks[..., 128:192].reshape(*shape, 2, 32))
    nibbles = np.concatenate([low & 15, low >> 4], -2)
    return _signed(nibbles | high << 4, 32).reshape(*shape, 16, 16)


def _scales_of_q6_k(blocks: Array) -> Array:
    return np.ascontiguousarray(blocks[..., 192:208]).view(np.int8) * single(blocks, 208)


NORMAL_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.int8).view(np.uint8)
"""The values of the codes of IQ4_NL and IQ4_XS, as bytes of si8."""


def _iq4_nl(blocks: Array) -> Array:
    return NORMAL_VALUES[bytes_of_nibbles(blocks[..., 2:])][..., None, :]


def _iq4_xs(blocks: Array) -> Array:
    chunks = blocks[..., 8:].reshape(*blocks.shape[:-1], 8, 16)
    return NORMAL_VALUES[bytes_of_nibbles(chunks)]


def _scales_of_iq4_xs(blocks: Array) -> Array:
    """8 scales of 6 bits, less 32: four bits in each half of a byte, two bits in a number of 16 bits."""
    low = np.stack([blocks[..., 4:8] & 15, blocks[..., 4:8] >> 4], -1).reshape(*blocks.shape[:-1], 8)
    high = np.ascontiguousarray(blocks[..., 2:4]).view("<u2") >> np.arange(0, 16, 2, dtype=np.uint16) & 3
    return single(blocks, 0) * ((low | high << 4).astype(np.float32) - 32)


def _tq2_0(blocks: Array) -> Array:
    codes = quarters(blocks[..., :64].reshape(*blocks.shape[:-1], 2, 32)).reshape(*blocks.shape[:-1], 64, 4)
    packed = codes[..., 0] | codes[..., 1] << 2 | codes[..., 2] << 4 | codes[..., 3] << 6
    return _without_empty(packed[..., None, :], _parts_of_tq2_0(blocks))


def _parts_of_tq2_0(blocks: Array) -> Parts:
    scale = single(blocks, 64)
    return scale, scale


def _mxfp4(blocks: Array) -> Array:
    return halves_in_pairs(blocks[..., 1:])[..., None, :]


def _first_half(blocks: Array) -> Array:
    return half(blocks, 0)


_I4, _U4, _I8, _U8, _U2 = (element_types.si4, element_types.ui4, element_types.si8, element_types.ui8, element_types.ui2)
_F16, _E8M0 = element_types.f16, element_types.f8e8m0

FORMATS: dict[str, BlockFormat] = {
    "Q4_0": BlockFormat(32, _I4, _q4_0, _first_half, scale_element=_F16),
    "Q4_1": BlockFormat(32, _U4, _q4_1, parts=_parts_of_1),
    "Q5_0": BlockFormat(32, _I8, _q5_0, _first_half, scale_element=_F16),
    "Q5_1": BlockFormat(32, _U8, _q5_1, parts=_parts_of_1),
    "Q8_0": BlockFormat(32, _I8, lambda blocks: blocks[..., None, 2:], _first_half, scale_element=_F16),
    "Q2_K": BlockFormat(16, _U2, _q2_k, parts=_parts_of_q2_k),
    "Q3_K": BlockFormat(16, _I4, _q3_k, _scales_of_q3_k),
    "Q4_K": BlockFormat(32, _U4, _q4_k, parts=_parts_of_k4),
    "Q5_K": BlockFormat(32, _U8, _q5_k, parts=_parts_of_k4),
    "Q6_K": BlockFormat(16, _I8, _q6_k, _scales_of_q6_k),
    "IQ4_NL": BlockFormat(32, _I8, _iq4_nl, _first_half, scale_element=_F16),
    "IQ4_XS": BlockFormat(32, _I8, _iq4_xs, _scales_of_iq4_xs),
    "TQ2_0": BlockFormat(256, _U2, _tq2_0, parts=_parts_of_tq2_0),
    "MXFP4": BlockFormat(32, element_types.f4e2m1, _mxfp4, lambda blocks: blocks[..., :1], scale_element=_E8M0),
}
"""The formats by the names of types."""
