"""Normalizes the scales of checkpoints to one scale per row, or one per group of a row.

a number                one for the whole matrix
[N], [N, 1]             one for each row
[N / R, K / C]          one for each block of R rows and C columns
[N, K / G]              one for each group of a row: blocks of one row
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from moir.dialects import element_types
from moir.dialects.computed_rows import repeated_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import ComputedArray, Values, computed
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.quantization import Layer

BIAS = 127
"""The bias of the exponents of f8e8m0: a byte b stands for 2 ^ (b - 127)."""


class GroupScales(NamedTuple):
    """The scales of a matrix [N, K].

    Args:
        values: the scales [N, groups].
        groups: the number of groups of a row, all of the same size.
    """

    values: Values
    groups: int

    def constant(self) -> DataAttr:
        """The scales as f32: [N, groups, 1] with groups, else [N, 1]."""
        rows = self.values.shape[0]
        shape = (rows, self.groups, 1) if self.groups > 1 else (rows, 1)
        return DataAttr(TensorData(single(self.values).reshape(shape), element_types.f32, shape))


def group_scales(data: DataAttr, rows: int, columns: int, layer: Layer, block: tuple[int, int] | None = None) -> GroupScales:
    """The scales of the groups of each row.

    Args:
        data: the scales as the file has them: floating-point numbers, or exponents as bytes.
        rows, columns: the size of the matrix.
        layer: the layer, for errors.
        block: the rows and columns of a block, if the settings have them; else they follow from the number of scales,
            which divides the size of the matrix.

    Raises ModelFileError for scales of a shape that is none of the forms.
    """
    values, shape = numbers_of(data, layer), data.shape
    if math.prod(shape) == 1:
        return GroupScales(np.full((rows, 1), np.asarray(values, np.float32).reshape(())), 1)
    if shape in ((rows,), (rows, 1)):
        return GroupScales(values.reshape(rows, 1), 1)
    if len(shape) == 4 and shape[1] == shape[3] == 1:
        shape = (shape[0], shape[2])
        values = values.reshape(shape)
    layer.expect(
        len(shape) == 2 and min(shape) > 0, f"scales of the shape {list(data.shape)} do not fit to {rows} rows and {columns} columns"
    )
    height, width = (
        _block_size(size, count, layer, each) for size, count, each in zip((rows, columns), shape, block or (0, 0), strict=True)
    )
    group = math.gcd(width, columns)
    if height == 1 and group == width:
        return GroupScales(values, shape[1])
    # A block may be wider than what is left of a row: then groups are parts of blocks.
    of_groups = np.asarray(values, np.float32)
    if group != width:
        of_groups = np.ascontiguousarray(of_groups[:, np.arange(columns // group) * group // width])
    return GroupScales(repeated_rows(of_groups, _block_rows(rows, height)), columns // group)


@lru_cache(maxsize=64)
def _block_rows(rows: int, height: int) -> Array:
    """For each row, the index of its block of `height` rows; shared by all matrices of a size, read-only."""
    result = np.arange(rows) // height
    result.flags.writeable = False
    return result


def _block_size(size: int, count: int, layer: Layer, block: int) -> int:
    """The number of rows (or columns) of a block, of `count` blocks for `size` rows; the last one may be smaller.

    `block` is the number in the settings, 0 for none. Raises ModelFileError if they do not fit together.
    """
    if block > 0 and -(-size // block) == count:
        return block
    layer.expect(size % count == 0, f"{count} scales do not fit to a dimension of {size}")
    return size // count


def numbers_of(data: DataAttr, layer: Layer) -> Values:
    """Scales as floating-point numbers: those of the file, or the powers of two whose exponents the file has as
    bytes.
    """
    if data.element == element_types.ui8:
        return computed(powers, data.values)
    layer.expect(data.element in element_types.REAL_TYPES and not element_types.describe(data.element).is_packed, "scales are not numbers")
    return data.values


def powers(exponents: Array) -> Array:
    """The powers of two, as f32, whose exponents are given as bytes of f8e8m0."""
    return np.ldexp(np.float32(1), exponents.astype(np.int32) - BIAS)


def single(values: Values) -> Values:
    """Values converted to f32, in which f8, f4 and nf4 weights are multiplied by their scales."""
    if isinstance(values, ComputedArray) or values.dtype != np.float32:
        return values.astype(np.dtype(np.float32))
    return values


def number_of(data: DataAttr, layer: Layer) -> np.float32:
    """The only element of a tensor, as f32.

    Raises ModelFileError if it has several elements, or the element is not positive.
    """
    layer.expect(
        math.prod(data.shape) == 1 and data.element in (element_types.f32, element_types.f16, element_types.bf16),
        "a scale is not one number",
    )
    number = np.float32(np.asarray(data.array, np.float32).reshape(()))
    layer.expect(bool(np.isfinite(number) and number > 0), f"a scale is {number}")
    return number
