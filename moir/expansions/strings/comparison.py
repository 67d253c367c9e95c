"""Comparing and selecting strings by their bytes, and finding the distinct ones."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.expansions.strings.texts import Texts, flat, int32, matrix, packed, shape_value, together, unpacked, with_sentinel
from moir.rewriting.builder import OpBuilder


def equal_strings(op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """Whether strings of two tensors, which are broadcast to each other, are equal."""
    return equal_texts(op, unpacked(op, a), unpacked(op, b))


def equal_texts(op: OpBuilder, first: Texts, second: Texts) -> SSAValue:
    """Whether strings given by their bytes are equal; their begins and ends are broadcast to each other."""
    none_of_first, none_of_second = (op.Multiply(each.begins, int32(0)) for each in (first, second))
    flattened = [
        Texts(flat(op, op.Add(each.begins, none)), flat(op, op.Add(each.ends, none)), each.symbols)
        for each, none in ((first, none_of_second), (second, none_of_first))
    ]
    rows, lengths = matrix(op, flattened[0])
    other_lengths = op.Subtract(flattened[1].ends, flattened[1].begins)
    columns = op.Range(int32(0), op.Gather(op.ShapeOf(rows, output_type=si32), 1, 0), int32(1), output_type=si32)
    positions = op.Add(op.Unsqueeze(flattened[1].begins, [1]), columns)
    inside = op.Less(columns, op.Unsqueeze(other_lengths, [1]))
    symbols = op.convert(with_sentinel(op, flattened[1].symbols, np.zeros(1, np.uint8)), si32)
    others = op.Select(inside, op.Gather(symbols, op.Select(inside, positions, int32(0)), 0), int32(0))
    same = op.ReduceLogicalAnd(op.Equal(rows, others), [1], keep_dims=False)
    equal = op.LogicalAnd(same, op.Equal(lengths, other_lengths))
    return op.Reshape(equal, shape_value(op, op.Add(none_of_first, none_of_second)), special_zero=False)


def selected_strings(op: OpBuilder, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
    """Strings of `a` where a condition holds, else of `b`; all three are broadcast to each other."""
    first, second = together(op, [unpacked(op, a), unpacked(op, b)])
    begins, ends = (op.Select(condition, one, other) for one, other in zip(first[:2], second[:2], strict=True))
    return packed(op, Texts(begins, ends, first.symbols))


def distinct_strings(op: OpBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The distinct strings of a 1-D tensor, in the order of their first occurrence, with indices and counts of type
    i32.

    Returns the distinct strings; for each string of the tensor its index among them; and the number of occurrences of
    each.
    """
    size = op.Gather(op.ShapeOf(x, output_type=si32), 0, 0)
    row_indices = op.Range(int32(0), size, int32(1), output_type=si32)
    texts = unpacked(op, x)
    columns, rows = (Texts(op.Unsqueeze(texts.begins, [axis]), op.Unsqueeze(texts.ends, [axis]), texts.symbols) for axis in (1, 0))
    same = equal_texts(op, columns, rows)
    first = op.ReduceMin(op.Select(same, op.Unsqueeze(row_indices, [0]), size), [1], keep_dims=False)
    is_first = op.Equal(first, row_indices)
    first_indices = op.Squeeze(op.NonZero(is_first, output_type=si32), [0])
    ids = op.CumSum(op.convert(is_first, si32), 0, exclusive=True)
    counts = op.ReduceSum(op.convert(same, si32), [1], keep_dims=False)
    return op.Gather(x, first_indices, 0), op.Gather(ids, first, 0), op.Gather(counts, first_indices, 0)
