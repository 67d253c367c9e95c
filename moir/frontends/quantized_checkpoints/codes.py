"""What the methods share: codes in 32-bit words, and scales in an exact element type."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows, repeated_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import Values, pieces
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.quantization import Layer

ELEMENTS = {2: element_types.ui2, 4: element_types.ui4, 8: element_types.ui8}
"""The element types of codes by their number of bits."""

WORD = 32

SMALLEST_NORMAL_HALF = 2.0**-14


def words_of(data: DataAttr, layer: Layer) -> Array:
    """The words of packed codes, as 32 bits without sign."""
    layer.expect(data.element in (element_types.si32, element_types.ui32), "packed codes are not words of 32 bits")
    return np.asarray(data.values).view(np.uint32)


def packed(codes: Array, bits: int) -> Array:
    """Codes ui8 […, K], one a byte -> the bytes of a constant […, K · bits / 8], the first code in the lowest bits."""
    if bits == 8:
        return codes
    per = 8 // bits
    result = codes[..., 0::per]
    for index in range(1, per):
        result = result | codes[..., index::per] << np.uint8(index * bits)
    return result


def unpacked_words(words: Array, bits: int) -> Array:
    """Words […, n] -> their codes ui8 […, n · 32 / bits], the first in the lowest bits."""
    stored = np.ascontiguousarray(words).view(np.uint8)
    return np.stack([stored >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(*words.shape[:-1], -1)


def grouped(values: Values, bits: int, shape: tuple[int, ...]) -> DataAttr:
    """A constant of codes whose bytes are computed; `shape` is that of the codes."""
    element = ELEMENTS[bits]
    inner = shape[-1] * bits // 8
    return DataAttr(TensorData(values.reshape(*shape[:-1], inner), element, shape))


def codes_of_words(words: Array, bits: int, groups: int, order: Array | None = None) -> DataAttr:
    """Words [N, n] with codes along the rows -> a constant of codes [N, groups, entries of a group].

    Args:
        words: the words.
        bits: 2, 4 or 8.
        groups: the number of groups of a row.
        order: the order of the columns; None for that of the words.
    """
    rows, columns = words.shape[0], words.shape[1] * WORD // bits
    values = computed_rows(partial(_bytes_of_words, bits, order), [words], (rows, columns * bits // 8), np.uint8)
    return grouped(values, bits, (rows, groups, columns // groups))


def _bytes_of_words(bits: int, order: Array | None, words: Array) -> Array:
    if order is None:
        return np.ascontiguousarray(words).view(np.uint8)
    return packed(unpacked_words(words, bits)[:, order], bits)


def codes_across_words(words: Array, bits: int, positions: tuple[int, ...], add: int = 0, dtype: Any = np.uint8) -> Values:
    """Words [K, n] with codes across the rows -> the codes [n · 32 / bits, K], one an element.

    Args:
        words: the words.
        bits: 2, 4 or 8.
        positions: the position in a word, in codes, of each of its columns.
        add: a number that is added to each code.
        dtype: the type of the result.
    """
    per = WORD // bits
    rows = np.arange(int(words.shape[1]) * per)
    source = repeated_rows(words.T, rows // per)
    shifts = np.array(positions, np.uint32)[rows % per][:, None] * np.uint32(bits)
    return computed_rows(partial(_shifted, bits, add, dtype), [source, shifts], source.shape, dtype)


def _shifted(bits: int, add: int, dtype: Any, words: Array, shifts: Array) -> Array:
    return ((words >> shifts & np.uint32((1 << bits) - 1)) + np.uint32(add)).astype(dtype)


def zero_points(words: Array, bits: int, positions: tuple[int, ...], add: int = 0) -> DataAttr:
    """Zero points in words [groups, n] -> a constant [N, groups, 1] of the codes' type; of f16 where it has no room."""
    codes = codes_across_words(words, bits, positions, add)
    rows, groups = codes.shape
    shape = (rows, groups, 1)
    fits = not add or all(piece.max(initial=0) < 1 << bits for piece in pieces(codes))
    if not fits or groups * bits % 8:
        return DataAttr(TensorData(codes.astype(np.dtype(np.float16)).reshape(shape), element_types.f16, shape))
    values = computed_rows(partial(_packed, bits), [codes], (rows, groups * bits // 8), np.uint8)
    return DataAttr(TensorData(values, ELEMENTS[bits], shape))


def _packed(bits: int, codes: Array) -> Array:
    return packed(codes, bits)


def exact_scale(values: Values, shape: tuple[int, ...]) -> DataAttr:
    """Scales as a constant of f16 if all of them are numbers of it, else of f32, which has those of bf16, too."""
    if values.dtype != np.float16:
        values = values.astype(np.dtype(np.float16 if _fits_half(values) else np.float32))
    values = values.reshape(shape)
    return DataAttr(TensorData(values, element_types.from_numpy(values.dtype), shape))


def _fits_half(values: Values) -> bool:
    """Whether all elements are numbers of half precision, none of them subnormal."""
    for piece in pieces(values):
        exact = piece.astype(np.float32)
        size = np.abs(exact)
        with np.errstate(over="ignore"):
            half = exact.astype(np.float16).astype(np.float32)
        if not ((half == exact) & ((size >= SMALLEST_NORMAL_HALF) | (size == 0))).all():
            return False
    return True
