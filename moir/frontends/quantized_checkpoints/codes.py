"""Functions that all quantization methods use: they unpack codes from 32-bit words, and store scales in an exact
element type.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows, repeated_rows, rows_moved
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import Values, pieces
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.quantization import Layer

SIGNED_ELEMENTS = {4: element_types.si4, 8: element_types.si8}
ELEMENTS = {2: element_types.ui2, 4: element_types.ui4, 8: element_types.ui8}
"""The element types of codes by their number of bits."""

WORD = 32

SMALLEST_NORMAL_HALF = 2.0**-14


def words_of(data: DataAttr, layer: Layer) -> Array:
    """The 32-bit words of a tensor of packed codes, as uint32."""
    layer.expect(data.element in (element_types.si32, element_types.ui32), "packed codes are not 32-bit integers")
    return np.asarray(data.values).view(np.uint32)


class PackedMatrix(NamedTuple):
    """The tensors of a layer whose weights are packed in words of 32 bits, as AWQ and GPTQ do.

    Args:
        words: the words of `qweight`, a matrix.
        scales: the tensor `scales`, a matrix.
        zeros: the words of `qzeros`, a matrix.
    """

    words: Array
    scales: DataAttr
    zeros: Array

    @classmethod
    def of(cls, layer: Layer) -> PackedMatrix | None:
        """The tensors of a layer; None if it is not quantized, so that it has no `qweight`.

        Raises ModelFileError if the other tensors are missing, or one of them is not a matrix.
        """
        qweight = layer.tensor("qweight")
        if qweight is None:
            return None
        words = words_of(qweight, layer)
        layer.expect(words.ndim == 2 and words.size > 0, "qweight is not a matrix")
        return cls(words, layer.required("scales", 2), words_of(layer.required("qzeros", 2), layer))

    def expect_groups(self, layer: Layer, group: int, *, fits: bool) -> None:
        """Raise ModelFileError, with the shapes of the tensors, unless `fits`: groups have `group` columns."""
        shapes = [list(each.shape) for each in self]
        layer.expect(fits, "qweight {}, scales {} and qzeros {} do not fit to groups of {}".format(*shapes, group))


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
    return unpacked_bytes(np.ascontiguousarray(words).view(np.uint8), bits)


def unpacked_bytes(stored: Array, bits: int) -> Array:
    """Bytes […, n] -> their codes ui8 […, n · 8 / bits], the first in the lowest bits."""
    return np.stack([stored >> shift & (1 << bits) - 1 for shift in range(0, 8, bits)], -1).reshape(*stored.shape[:-1], -1)


def grouped(values: Values, bits: int, shape: tuple[int, ...], element: Attribute | None = None) -> DataAttr:
    """A constant of packed codes whose bytes are computed when they are needed.

    Args:
        values: the bytes [N, K · bits / 8].
        bits: the number of bits of a code.
        shape: the shape of the codes.
        element: their element type; by default integers without sign.
    """
    inner = shape[-1] * bits // 8
    return DataAttr(TensorData(values.reshape(*shape[:-1], inner), element or ELEMENTS[bits], shape))


def nibbles(data: DataAttr, element: Attribute, shape: tuple[int, ...]) -> DataAttr:
    """A view of bytes with two codes of 4 bits each, the first in the low bits, as a constant with an element type and
    a shape.
    """
    stored = np.asarray(data.values).view(np.uint8)
    return DataAttr(TensorData(stored.reshape(*shape[:-1], shape[-1] // 2), element, shape))


def codes_of_words(words: Array, bits: int, groups: int, order: Array | None = None, columns: int | None = None) -> DataAttr:
    """Words [N, n] with codes along the rows -> a constant of codes [N, groups, entries of a group].

    Args:
        words: the words.
        bits: 2, 4 or 8.
        groups: the number of groups of a row.
        order: the order of the columns; None for that of the words.
        columns: the number of codes of a row, if the last word is not full.
    """
    rows = int(words.shape[0])
    columns = int(words.shape[1]) * WORD // bits if columns is None else columns
    values = computed_rows(partial(_bytes_of_words, bits, order, columns), [words], (rows, columns * bits // 8), np.uint8)
    return grouped(values, bits, (rows, groups, columns // groups))


def _bytes_of_words(bits: int, order: Array | None, columns: int, words: Array) -> Array:
    if order is None:
        return np.ascontiguousarray(words).view(np.uint8)[:, : columns * bits // 8]
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


def zero_points(words: Array, bits: int, positions: tuple[int, ...], add: int = 0, rows: int | None = None) -> DataAttr:
    """Zero points in words [groups, n] -> a constant [N, groups, 1] of the codes' type; of f16 where it has no room.

    Args:
        words: the words, whose codes go across the rows.
        bits: 2, 4 or 8.
        positions: the position in a word, in codes, of each of its columns.
        add: a number that is added to each zero point.
        rows: the number of rows, if the last words are not full.
    """
    codes = codes_across_words(words, bits, positions, add)
    if rows is not None and rows != codes.shape[0]:
        codes = rows_moved(codes, lambda array: array[:rows])
    count, groups = codes.shape
    shape = (count, groups, 1)
    fits = not add or all(piece.max(initial=0) < 1 << bits for piece in pieces(codes))
    if not fits or groups * bits % 8:
        return DataAttr(TensorData(codes.astype(np.dtype(np.float16)).reshape(shape), element_types.f16, shape))
    values = computed_rows(partial(_packed, bits), [codes], (count, groups * bits // 8), np.uint8)
    return DataAttr(TensorData(values, ELEMENTS[bits], shape))


def _packed(bits: int, codes: Array) -> Array:
    return packed(codes, bits)


def column_order(stored: DataAttr | None, columns: int, group: int, layer: Layer) -> Array | None:
    """The permutation that sorts the columns of a matrix by their groups; None if they are sorted already.

    Args:
        stored: the group of each column, as the file has it; None if the file has none, so that groups are consecutive.
        columns: the number of columns.
        group: the number of columns of a group.
        layer: the layer, for errors.

    Raises ModelFileError if the groups are not of `group` columns each.
    """
    if stored is None:
        return None
    is_list = stored.shape == (columns,) and stored.element in element_types.INTEGER_TYPES
    layer.expect(is_list, f"g_idx has no entry for each of {columns} columns")
    numbers = stored.array
    wanted = np.arange(columns) // group
    if np.array_equal(numbers, wanted):
        return None
    order = np.argsort(numbers, kind="stable")
    layer.expect(np.array_equal(numbers[order], wanted), f"the groups of g_idx are not of {group} columns each")
    return order


def exact_scale(values: Values, shape: tuple[int, ...]) -> DataAttr:
    """Scales as a constant of f16 if they are numbers of f16, else of f32, which can also represent all numbers of
    bf16.
    """
    if values.dtype != np.float16:
        values = values.astype(np.dtype(np.float16 if _fits_half(values) else np.float32))
    values = values.reshape(shape)
    return DataAttr(TensorData(values, element_types.from_numpy(values.dtype), shape))


def _fits_half(values: Values) -> bool:
    """Whether f16 can represent all elements exactly, without subnormal numbers."""
    for piece in pieces(values):
        exact = piece.astype(np.float32)
        size = np.abs(exact)
        with np.errstate(over="ignore"):
            half = exact.astype(np.float16).astype(np.float32)
        if not ((half == exact) & ((size >= SMALLEST_NORMAL_HALF) | (size == 0))).all():
            return False
    return True
