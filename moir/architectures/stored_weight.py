"""Weights as a file stores them: plain values, or quantized values (codes) with a scale and a zero point for each
group.

    values      bf16 [N, K]
    codes       u4 [N, K / G, G], scale f16 [N, K / G, 1], zero point u4 [N, K / G, 1]

The codes are never dequantized: they go into the constants of the IR as they are.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from moir.dialects.computed_rows import rows_moved
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import describe
from moir.dialects.memory_map import Array
from moir.errors import ConversionError
from moir.support.records import Record

Move = Callable[[Array], Array]
"""Takes an array and returns its rows (along the first dimension) in another order."""


class StoredWeight(Record):
    """A matrix [N, K], or one for each expert [E, N, K], or a vector [N], as the file stores it.

    value = (codes - zero_point) * scale, reshaped from [N, K / G, G] to [N, K]

    Args:
        codes: the numbers [N, K] (f32, f16, bf16); or codes [N, K], or [N, K / G, G] in groups.
        scale: the factor of each row [N, 1] or group [N, K / G, 1]; None for numbers.
        zero_point: the code of the value 0 in each row or group, in the codes' type or as f16 or f32; None for 0.
        columns: i32 [K], the order of the columns of the operand with which the codes are multiplied; None for the
            operand's own.
        is_grouped: whether the last two dimensions of the codes are the groups of a row and their entries. A matrix in
            groups [N, K / G, G] has as many dimensions as the matrices of experts [E, N, K] without groups.
    """

    codes: DataAttr
    scale: DataAttr | None = None
    zero_point: DataAttr | None = None
    columns: DataAttr | None = None
    is_grouped: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the dequantized weight: that of the codes, with groups merged into rows."""
        shape = self.codes.shape
        return (*shape[:-2], shape[-2] * shape[-1]) if self.is_grouped else shape

    @property
    def is_plain(self) -> bool:
        """Whether the weight is not quantized: the codes are its values."""
        return self.scale is None

    def rows(self, move: Move) -> StoredWeight:
        """The weight with whole rows moved alike in codes, scales and zero points.

        Args:
            move: takes an array and returns its rows, the first dimension of a matrix, in another order; of the
                matrices of experts [E, N, K] the first two dimensions are rows.

        Raises ConversionError if rows of packed codes share bytes.
        """
        outer = max(1, len(self.shape) - 1)
        parts = (self.codes, self.scale, self.zero_point)
        codes, scale, zero_point = (None if each is None else moved_rows(each, move, outer) for each in parts)
        assert codes is not None
        return self.with_fields(codes=codes, scale=scale, zero_point=zero_point)


def moved_rows(data: DataAttr, move: Move, outer: int = 1) -> DataAttr:
    """A constant with its rows in another order. Raises ConversionError if rows of packed elements share bytes.

    Args:
        data: the constant, whose first `outer` dimensions are those of its rows.
        move: takes an array and returns its rows in another order, or some of them.
        outer: 1, or 2 for the matrices of experts.
    """
    row = describe(data.element)
    values, inner = data.values, data.shape[outer:]
    if row.is_packed:
        if math.prod(inner) * row.bits % 8:
            raise ConversionError(f"the rows of a {row.xml} tensor of shape {list(data.shape)} share bytes, so that they cannot be moved")
        if values.shape[:outer] != data.shape[:outer]:
            values = values.reshape(*data.shape[:outer], row.storage(math.prod(inner)))
    values = rows_moved(values, move, outer)
    return DataAttr(TensorData(values, data.element, (*values.shape[:outer], *inner)))
