"""Ragged tensors: their values, and for each ragged dimension the offsets at which its rows begin and end
(`splits`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, si64, to_numpy
from moir.dialects.shapes import element_count, element_of, rank_of, shape_of
from moir.expansions.shape_values import as_list
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_parts
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder

NOWHERE = 2**31 - 1
"""An index out of range for any tensor, for which a Gather returns zeros."""


def indices_of(op: OpBuilder, values: SSAValue) -> SSAValue:
    """The index 0, 1, … of each element of a vector."""
    return op.Range(0, op.Squeeze(op.ShapeOf(values), [0]), 1, output_type=si64)


def rows_of(op: OpBuilder, splits: SSAValue, indices: SSAValue) -> SSAValue:
    """The index of the row that contains each of `indices`; `splits` are the bounds of the rows."""
    return op.Subtract(op.SearchSorted(splits, indices, right_mode=True, output_type=si64), 1)


@tf.lowers("RaggedRange")
def ragged_range(node: LoweringNode, op: OpBuilder, *operands: SSAValue, Tsplits: Attribute = si64) -> Sequence[SSAValue | None]:
    """tf.RaggedRange(starts, limits, deltas)
    -> splits, the CumSum of the lengths, and the values start + index in the row · delta
    """
    starts, limits, deltas = (_list(op, value) for value in operands)
    element = element_of(starts)
    distance = op.Subtract(limits, starts)
    if element in REAL_TYPES:
        quotient = op.Ceiling(op.Divide(distance, deltas))
    else:
        # Division truncates: the distance is first increased in magnitude by the step minus 1, so that the quotient
        # rounds up.
        quotient = op.Divide(op.Add(distance, op.Subtract(deltas, op.Sign(deltas))), deltas)
    lengths = op.convert(op.Maximum(quotient, 0), si64)
    splits = op.CumSum(op.Concat([0], lengths, axis=0), op.constant(0, si64))
    results: list[SSAValue | None] = [op.convert(splits, Tsplits), None]
    if node.is_used(1):
        indices = op.Range(0, op.Gather(splits, -1, 0), 1, output_type=si64)
        rows = rows_of(op, splits, indices)
        position = op.convert(op.Subtract(indices, op.Gather(splits, rows, 0)), element)
        start, delta = (of_row(op, value, rows, op.ShapeOf(lengths)) for value in (starts, deltas))
        results[1] = op.Add(start, op.Multiply(position, delta))
    return results[: node.result_count]


def _list(op: OpBuilder, value: SSAValue) -> SSAValue:
    """A scalar or a 1-D tensor as a 1-D tensor."""
    return op.Reshape(value, [-1], special_zero=False) if rank_of(value) is None else as_list(op, value) if rank_of(value) == 0 else value


def of_row(op: OpBuilder, values: SSAValue, rows: SSAValue, count: SSAValue) -> SSAValue:
    """`values[rows]`, where `values` has an element for each of `count` rows, or a single element for all rows."""
    shape = shape_of(values)
    if shape == (1,):
        return values
    return op.Gather(values if shape is not None and shape[0] > 1 else op.Broadcast(values, count), rows, 0)


@tf.lowers("RaggedTensorToSparse")
def to_sparse(node: LoweringNode, op: OpBuilder, *rt_nested_splits: SSAValue) -> Sequence[SSAValue]:
    """tf.RaggedTensorToSparse(splits…, values) {RAGGED_RANK}
    -> coordinates [n, rank], values, and the shape, with the length of the longest row of each dimension
    """
    *all_splits, values = rt_nested_splits
    if rank_of(values) != 1:
        node.fail("its innermost rows hold slices of several dimensions, or of dynamic rank")
    indices = indices_of(op, values)
    columns: list[SSAValue] = []
    sizes: list[SSAValue] = []
    for splits in (op.convert(each, si64) for each in reversed(all_splits)):
        rows = rows_of(op, splits, indices)
        columns.append(op.Subtract(indices, op.Gather(splits, rows, 0)))
        sizes.append(op.ReduceMax(op.Concat([0], lengths_of(op, splits), axis=0), [0], keep_dims=True))
        indices = rows
    columns.append(indices)
    sizes.append(op.Subtract(op.ShapeOf(all_splits[0]), 1))
    coordinates = op.Concat(*(op.Unsqueeze(column, [1]) for column in reversed(columns)), axis=1)
    return [coordinates, values, op.Concat(*reversed(sizes), axis=0)][: node.result_count]


def lengths_of(op: OpBuilder, splits: SSAValue) -> SSAValue:
    """The lengths of the rows that `splits` describes."""
    return op.Subtract(op.Slice(splits, [1], [NOWHERE], [1], [0]), op.Slice(splits, [0], [-1], [1], [0]))


@tf.lowers("RaggedTensorToTensor", complex=by_parts(1, 2))
def to_tensor(
    node: LoweringNode, op: OpBuilder, shape: SSAValue, *operands: SSAValue, row_partition_types: tuple[str, ...] = ()
) -> SSAValue:
    """tf.RaggedTensorToTensor(shape, values, default, partitions…) {row_partition_types}
    -> Select(inside, Gather(values, …), default)

    Each ragged dimension maps the row indices [d0, …] to the indices of the elements [d0, …, d] of these rows: begin +
    0, begin + 1, …, and an index out of range after the end of a row. The partitions are either splits, or the number
    of rows followed by the row index of each element, for each ragged dimension.
    """
    values, default, *partitions = operands
    rank = node.known_rank(1)
    partitions_of_rows, rows = row_bounds(node, op, row_partition_types, partitions)
    sizes = op.known.integers(shape)
    if sizes is None:
        node.fail("its shape is computed when the model runs", hint="make the shape a constant")
    wanted = list(sizes) if rank_of(shape) == 1 and len(sizes) > 0 else [-1] * (len(partitions_of_rows) + rank)
    if len(wanted) != len(partitions_of_rows) + rank:
        node.fail(f"a shape of {len(wanted)} dimensions is given for {len(partitions_of_rows) + rank}")
    if wanted[0] >= 0:
        rows = op.constant(wanted[0], si64)
    indices = op.Range(0, rows, 1, output_type=si64)
    inside: SSAValue | None = None
    for depth, (starts, ends) in enumerate(partitions_of_rows):
        # A Gather returns 0 as both bounds for an index out of range, so the row is empty.
        begin, end = (op.Unsqueeze(op.Gather(bound, indices, 0), [depth + 1]) for bound in (starts, ends))
        if wanted[depth + 1] >= 0:
            width = op.constant(wanted[depth + 1], si64)
        else:
            width = op.ReduceMax(op.Concat([0], op.Subtract(ends, starts), axis=0), [0], keep_dims=False)
        candidates = op.Add(begin, op.Range(0, width, 1, output_type=si64))
        inside = op.Less(candidates, end)
        indices = op.Select(inside, candidates, op.constant(NOWHERE, si64))
    if inside is None:
        node.fail("it has no partitions")
    extra = rank - 1
    if extra:
        inside = op.Unsqueeze(inside, list(range(len(partitions_of_rows) + 1, len(partitions_of_rows) + 1 + extra)))
    return op.Select(inside, op.Gather(values, indices, 0), default)


def row_bounds(
    node: LoweringNode, op: OpBuilder, kinds: Sequence[str], partitions: Sequence[SSAValue]
) -> tuple[list[tuple[SSAValue, SSAValue]], SSAValue]:
    """Begins and ends of the rows of each ragged dimension, and the number of rows of the first one.

    `kinds` are the types of `partitions`. Raises ConversionError unless all are ROW_SPLITS, or FIRST_DIM_SIZE followed
    by VALUE_ROWIDS.
    """
    if kinds and set(kinds) == {"ROW_SPLITS"}:
        bounds: list[tuple[SSAValue, SSAValue]] = []
        for splits in (op.convert(each, si64) for each in partitions):
            bounds.append((op.Slice(splits, [0], [-1], [1], [0]), op.Slice(splits, [1], [NOWHERE], [1], [0])))
        return bounds, op.Squeeze(op.Subtract(op.ShapeOf(partitions[0]), 1), [0])
    if len(kinds) < 2 or kinds[0] != "FIRST_DIM_SIZE" or set(kinds[1:]) != {"VALUE_ROWIDS"}:
        node.fail(f"row partitions {', '.join(kinds)} are not supported", hint="use ROW_SPLITS, or FIRST_DIM_SIZE and VALUE_ROWIDS")
    count = rows = op.convert(partitions[0], si64)
    bounds = []
    for row_numbers in (op.convert(each, si64) for each in partitions[1:]):
        indices = op.Range(0, count, 1, output_type=si64)
        starts, ends = (op.SearchSorted(row_numbers, indices, right_mode=right, output_type=si64) for right in (False, True))
        bounds.append((starts, ends))
        count = op.Squeeze(op.ShapeOf(row_numbers), [0])
    return bounds, rows


@tf.lowers("RaggedBincount")
def counts_of_rows(
    node: LoweringNode,
    op: OpBuilder,
    splits_: SSAValue,
    values_: SSAValue,
    size_: SSAValue,
    weights: SSAValue,
    *,
    binary_output: bool = False,
) -> SSAValue:
    """tf.RaggedBincount(splits, values, size, weights) {binary_output}
    -> opset15.ScatterNDUpdate(0, [row, value], weight) {reduction = sum}, without the values from `size` on

    With `binary_output`: {reduction = max} of ones.
    """
    splits, values = op.convert(splits_, si64), op.convert(values_, si64)
    element = node.element_attribute("T", element_of(weights))
    size = op.convert(as_list(op, size_), si64)
    rows = rows_of(op, splits, indices_of(op, values))
    columns = op.Minimum(values, size)
    indices = op.Concat(op.Unsqueeze(rows, [1]), op.Unsqueeze(columns, [1]), axis=1)
    one, zero = (op.constant(np.asarray(value, to_numpy(element))) for value in (1, 0))
    shape = op.Concat(op.Subtract(op.ShapeOf(splits), 1), op.Add(size, 1), axis=0)
    updates = op.Broadcast(one, op.ShapeOf(values))
    if not binary_output and element_count(shape_of(weights)) != 0:
        # Weights are optional: ones are appended for missing weights.
        missing = op.Maximum(op.Subtract(op.ShapeOf(values), op.ShapeOf(weights)), 0)
        updates = op.Concat(weights, op.Broadcast(one, missing), axis=0)
    counts_of_values = op.ScatterNDUpdate(op.Broadcast(zero, shape), indices, updates, reduction="max" if binary_output else "sum")
    return op.Slice(counts_of_values, [0], size, [1], [1])
