"""Sums and maxima over segments of rows, and the missing rows of a sparse tensor."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np
from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def

from moir.dialects.data import Array
from moir.dialects.element_types import boolean
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.elementwise import narrowed, widened
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import deferred_definition, optional_operands, string_property
from moir.dialects.shapes import Shapes, SymbolicShape, format_shape, is_fixed, merge_dimensions, merge_shapes
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError


def require_ranks(op: OpsetOp, ranks: Sequence[int]) -> None:
    """Raise InferenceError if the rank of an operand is known and differs from the rank in `ranks` for it."""
    for index, rank in enumerate(ranks[: len(op.operands)]):
        if op.rank(index) not in (rank, None):
            raise InferenceError(f"operand {index} has rank {rank}, not shape {format_shape(op.shape(index))}")


@deferred_definition
class EmbeddingSegmentsSum(OpsetOp):
    """For each segment the sum of the rows of `emb_table` at the indices of the segment.

    `segment_ids` is the segment of each index, in ascending order. A segment without indices has the row
    `default_index`, or zeros if that is absent or -1. `per_sample_weights` are factors of the rows.
    """

    name = "opset3.EmbeddingSegmentsSum"
    STEPS: ClassVar[int] = 16
    emb_table = operand_def()
    indices = operand_def()
    segment_ids = operand_def()
    num_segments = operand_def()
    optional = optional_operands(2)
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        table, count = shapes[0], known.sizes(self.operands[3])
        if table == ():
            raise InferenceError("the table has at least one dimension")
        for index in (1, 2):
            if self.rank(index) not in (1, None):
                raise InferenceError(f"operand {index} has one dimension, not shape {format_shape(shapes[index])}")
        merge_shapes(shapes[1], shapes[2])
        if self.optional_operand(5) is not None:
            merge_shapes(shapes[1], shapes[5])
        return None if table is None else (count[0] if count else -1, *table[1:])

    def result_element(self) -> Attribute:
        return self.common_element(0) if self.optional_operand(5) is None else self.common_element(0, 5)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        table, indices, segments, count = operands[:4]
        total, size = widened(table), int(count.reshape(()))
        if total.dtype.kind not in "fiu" or len(operands) > 4:
            return None
        if not _in_range(indices, len(table)) or not _in_range(segments, size):
            return None
        result = np.zeros((size, *table.shape[1:]), total.dtype)
        np.add.at(result, segments, total[indices])
        return (narrowed(result, table.dtype),)


def _in_range(positions: Array, size: int) -> bool:
    return positions.size == 0 or (int(positions.min()) >= 0 and int(positions.max()) < size)


class EmbeddingBagOp(OpsetOp):
    """Base of the operations that combine rows of `emb_table`, each bag of indices to one row.

    `per_sample_weights` are factors of the rows.
    """

    STEPS: ClassVar[int] = 16
    emb_table = operand_def()
    indices = operand_def()

    RANK: ClassVar[int]
    """The rank of the indices."""

    WEIGHTS: ClassVar[int]
    """The index of the operand with the weights, which are shaped like the indices."""

    def bags(self, shapes: Shapes) -> Dimension:
        """The number of bags, -1 if it is dynamic."""
        raise NotImplementedError

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        table = shapes[0]
        if table == ():
            raise InferenceError("the table has at least one dimension")
        if self.rank(1) not in (self.RANK, None):
            raise InferenceError(f"the indices have {self.RANK} dimensions, not shape {format_shape(shapes[1])}")
        if self.optional_operand(self.WEIGHTS) is not None:
            merge_shapes(shapes[1], shapes[self.WEIGHTS])
        return None if table is None else (self.bags(shapes), *table[1:])

    def result_element(self) -> Attribute:
        return self.common_element(0) if self.optional_operand(self.WEIGHTS) is None else self.common_element(0, self.WEIGHTS)

    def combined(self, rows: Array, axis: int) -> Array:
        """The rows of a bag along an axis, combined to one."""
        is_mean = "reduction" in self.properties and self.text("reduction") == "mean"
        return rows.mean(axis) if is_mean and rows.shape[axis] else rows.sum(axis)


class EmbeddingBagOffsetsOp(EmbeddingBagOp):
    """Base of the operations on bags of a 1-D tensor of indices, which begin at `offsets` [bags].

    An empty bag has the row `default_index`, or zeros if that is absent or -1.
    """

    offsets = operand_def()
    optional = optional_operands(2)

    RANK: ClassVar[int] = 1
    WEIGHTS: ClassVar[int] = 4

    def bags(self, shapes: Shapes) -> Dimension:
        if self.rank(2) not in (1, None):
            raise InferenceError(f"the offsets have one dimension, not shape {format_shape(shapes[2])}")
        if self.optional_operand(3) is not None and self.rank(3) not in (0, None):
            raise InferenceError(f"default_index is a scalar, not of shape {format_shape(shapes[3])}")
        return next(iter(shapes[2] or ()), -1)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        dtype, table, indices, offsets = operands[0].dtype, widened(operands[0]), operands[1], operands[2]
        if table.dtype.kind != "f" or len(operands) > 3 or not _in_range(indices, len(table)):
            return None
        bounds = [*offsets.tolist(), len(indices)]
        if bounds != sorted(bounds) or (bounds and bounds[0] < 0):
            return None
        rows = [self.combined(table[indices[start:stop]], 0) for start, stop in pairwise(bounds)]
        result = np.array(rows).reshape(len(offsets), *table.shape[1:])
        return (narrowed(result, dtype),)


@deferred_definition
class EmbeddingBagOffsetsSum(EmbeddingBagOffsetsOp):
    """Sums of the rows of bags."""

    name = "opset3.EmbeddingBagOffsetsSum"
    result = result_def()


@deferred_definition
class EmbeddingBagOffsets(EmbeddingBagOffsetsOp):
    """Sums or means of the rows of bags; the mean takes no weights."""

    name = "opset15.EmbeddingBagOffsets"
    reduction = string_property("sum", "mean", "sum")
    result = result_def()


class EmbeddingBagPackedOp(EmbeddingBagOp):
    """Base of the operations on bags of equal size: indices [bags, size]."""

    optional = optional_operands(1)

    RANK: ClassVar[int] = 2
    WEIGHTS: ClassVar[int] = 2

    def bags(self, shapes: Shapes) -> Dimension:
        indices = shapes[1]
        weights = None if self.optional_operand(2) is None else shapes[2]
        return next(iter(merge_shapes(indices, weights) or ()), -1)

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        dtype, table, indices = operands[0].dtype, widened(operands[0]), operands[1]
        if table.dtype.kind != "f" or len(operands) > 2 or not _in_range(indices, len(table)):
            return None
        return (narrowed(self.combined(table[indices], 1), dtype),)


@deferred_definition
class EmbeddingBagPackedSum(EmbeddingBagPackedOp):
    """Sums of the rows of bags."""

    name = "opset3.EmbeddingBagPackedSum"
    result = result_def()


@deferred_definition
class EmbeddingBagPacked(EmbeddingBagPackedOp):
    """Sums or means of the rows of bags; the mean takes no weights."""

    name = "opset15.EmbeddingBagPacked"
    reduction = string_property("sum", "mean", "sum")
    result = result_def()


@deferred_definition
class SegmentMax(OpsetOp):
    """For each segment the maximum of the slices of `data` in the segment.

    `segment_ids` is the segment of each slice, in ascending order. `fill_mode` selects zeros or the lowest number for a
    segment without slices. Without `num_segments` the last segment is the last one with a slice.
    """

    name = "opset16.SegmentMax"
    data = operand_def()
    segment_ids = operand_def()
    optional = optional_operands(1)
    fill_mode = string_property("zero", "lowest", "zero")
    result = result_def()

    def result_shape(self, shapes: Shapes, known: OperandValues) -> SymbolicShape:
        data, segments = shapes[0], known.integers(self.operands[1])
        if data == () or self.rank(1) not in (1, None):
            raise InferenceError("data have at least one dimension and segment_ids have one")
        ids = shapes[1]
        if data is not None and ids is not None:
            merge_dimensions(data[0], ids[0])
        count: Dimension = -1
        if (operand := self.optional_operand(2)) is not None:
            count = (known.sizes(operand) or (-1,))[0]
        elif segments is not None:
            count = segments[-1] + 1 if segments else 0
        return None if data is None else (count, *data[1:])

    def evaluate(self, *operands: Array) -> Sequence[Array] | None:
        data, segments = operands[:2]
        count = int(operands[2].reshape(())) if len(operands) > 2 else int(segments[-1]) + 1 if segments.size else 0
        if data.dtype.kind not in "fiu" or not _in_range(segments, count):
            return None
        extreme = np.finfo(data.dtype).min if data.dtype.kind == "f" else np.iinfo(data.dtype).min
        result = np.full((count, *data.shape[1:]), extreme, data.dtype)
        np.maximum.at(result, segments, data)
        if self.text("fill_mode") == "zero":
            result[np.setdiff1d(np.arange(count), segments)] = 0
        return (result,)


@deferred_definition
class SparseFillEmptyRows(OpsetOp):
    """A sparse matrix with `default_value` inserted in the first column of each row without elements.

    Results: coordinates, values, and for each row whether it had no elements.
    """

    name = "opset16.SparseFillEmptyRows"
    values = operand_def()
    dense_shape = operand_def()
    indices = operand_def()
    default_value = operand_def()
    output_indices = result_def()
    output_values = result_def()
    empty_row_indicator = result_def()

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        require_ranks(self, (1, 1, 2, 0))
        rows, count = (known.sizes(self.operands[1]) or (-1,))[0], -1
        coordinates = known.constant(self.operands[2])
        if is_fixed(rows) and coordinates is not None:
            count = len(coordinates) + rows - len(np.unique(coordinates[:, 0]))
        return (count, 2), (count,), (rows,)

    def result_elements(self) -> Sequence[Attribute]:
        return self.common_element(1, 2), self.common_element(0, 3), boolean
