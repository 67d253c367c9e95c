"""Slices and padding, also where sizes or starts are computed when the model runs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import rank_of, shape_of
from moir.expansions.shape_values import as_scalar
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.attributes import require_rows
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.padding import slice_at, updated_at, with_edges, with_interior
from moir.rewriting.builder import OpBuilder

LAST = 2**31 - 1


@stablehlo.lowers("slice")
def slice_(
    op: OpBuilder,
    operand: SSAValue,
    *,
    start_indices: tuple[int, ...] = (),
    limit_indices: tuple[int, ...] = (),
    strides: tuple[int, ...] = (),
) -> SSAValue:
    """stablehlo.slice(x) {start_indices, limit_indices, strides} -> opset8.Slice(x)"""
    shape = shape_of(operand) or (-1,) * len(start_indices)
    strides = strides or (1,) * len(start_indices)
    require_rows(shape, start_indices=start_indices, limit_indices=limit_indices, strides=strides)
    rows = zip(start_indices, limit_indices, strides, shape, strict=True)
    cut = [axis for axis, (start, limit, stride, size) in enumerate(rows) if (start, limit, stride) != (0, size, 1)]
    if not cut:
        return operand
    parts = [[entries[axis] for axis in cut] for entries in (start_indices, limit_indices, strides)]
    return op.Slice(operand, *parts, cut)


@stablehlo.lowers("real_dynamic_slice")
def real_dynamic_slice(op: OpBuilder, operand: SSAValue, start_indices: SSAValue, limit_indices: SSAValue, strides: SSAValue) -> SSAValue:
    """stablehlo.real_dynamic_slice(x, start, limit, strides) -> opset8.Slice(x, start, limit, strides)"""
    rank = rank_of(operand) or 0
    bounds = [op.convert(each, si64) for each in (start_indices, limit_indices, strides)]
    return op.Slice(operand, *bounds, list(range(rank))) if rank else operand


def _starts(op: OpBuilder, values: Sequence[SSAValue]) -> SSAValue:
    """Concatenate the start indices, which are scalars, to a 1-D tensor of i64."""
    entries = [op.Reshape(op.convert(each, si64), [1], special_zero=False) for each in values]
    return op.Concat(*entries, axis=0) if len(entries) > 1 else entries[0]


@stablehlo.lowers("dynamic_slice")
def dynamic_slice(op: OpBuilder, operand: SSAValue, *start_indices: SSAValue, slice_sizes: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.dynamic_slice(x, start…) {slice_sizes} -> opset8.Gather or opset8.Slice"""
    return slice_at(op, operand, _starts(op, start_indices), slice_sizes) if start_indices else operand


@stablehlo.lowers("dynamic_update_slice")
def dynamic_update_slice(op: OpBuilder, operand: SSAValue, update: SSAValue, *start_indices: SSAValue) -> SSAValue:
    """stablehlo.dynamic_update_slice(x, update, start…) -> opset3.ScatterUpdate; starts are clipped to fit"""
    return updated_at(op, operand, update, _starts(op, start_indices)) if start_indices else update


@stablehlo.lowers("pad")
def pad(
    node: LoweringNode,
    op: OpBuilder,
    operand: SSAValue,
    padding_value: SSAValue,
    *,
    edge_padding_low: tuple[int, ...] = (),
    edge_padding_high: tuple[int, ...] = (),
    interior_padding: tuple[int, ...] = (),
) -> SSAValue:
    """stablehlo.pad(x, value) {low, high, interior} -> opset12.Pad(x, low, high, value)"""
    rank = node.known_rank(0)
    if not len(edge_padding_low) == len(edge_padding_high) == rank or min(interior_padding, default=0) < 0:
        node.fail("its padding does not fit the rank of its operand, or is negative between elements")
    value = as_scalar(op, padding_value)
    data = with_interior(op, operand, interior_padding or (0,) * rank, value)
    return with_edges(op, data, edge_padding_low, edge_padding_high, value)


@stablehlo.lowers("dynamic_pad")
def dynamic_pad(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, padding_value: SSAValue, low: SSAValue, high: SSAValue, interior: SSAValue
) -> SSAValue:
    """stablehlo.dynamic_pad(x, value, low, high, interior) -> opset12.Pad(x, low, high, value)"""
    between = op.known.integers(interior)
    if between is None or len(between) != node.known_rank(0) or min(between, default=0) < 0:
        node.fail("padding between elements of a computed size is not supported")
    value, ends = as_scalar(op, padding_value), [op.convert(each, si64) for each in (low, high)]
    return op.Pad(with_interior(op, operand, between, value), *ends, value, pad_mode="constant")
