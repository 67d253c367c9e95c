"""Shapes, permutations, joins, parts, padding, also those of sizes that are computed when the model runs.

    %y = stablehlo.broadcast_in_dim(%x) {broadcast_dimensions = [1]}
->  %y = opset3.Broadcast(opset1.Unsqueeze(%x, [0]), shape)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import as_scalar, dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.lowering.xla.padding import slice_at, updated_at, with_edges, with_interior
from moir.rewriting.builder import OpBuilder

LAST = 2**31 - 1


def declared_shape(node: LoweringNode) -> tuple[int, ...]:
    """The shape that the program declares for the result."""
    shape = shape_of(node.op.results[0])
    if shape is None:
        node.fail("the rank of its result is unknown")
    return tuple(shape)


def result_element(node: LoweringNode, index: int = 0) -> Attribute:
    """The element type that the program declares for a result."""
    return element_of(node.op.results[index])


def placed(node: LoweringNode, op: OpBuilder, operand: SSAValue, dimensions: Sequence[int], rank: int) -> SSAValue:
    """A tensor whose dimensions are those with the given numbers of a result, with ones for the others."""
    if len(dimensions) != node.known_rank(0) or any(not 0 <= each < rank for each in dimensions):
        node.fail(f"its broadcast_dimensions {list(dimensions)} do not fit a tensor of rank {node.rank(0)}")
    if list(dimensions) != sorted(dimensions):
        operand = op.transposed(operand, [list(dimensions).index(each) for each in sorted(dimensions)])
    missing = [axis for axis in range(rank) if axis not in dimensions]
    return op.Unsqueeze(operand, missing) if missing and rank_of(operand) != 0 else operand


@stablehlo.lowers("broadcast_in_dim")
def broadcast_in_dim(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, broadcast_dimensions: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.broadcast_in_dim(x) {broadcast_dimensions} -> opset3.Broadcast(opset1.Unsqueeze(x), shape)"""
    shape = declared_shape(node)
    if not is_static(shape):
        node.fail("the shape of its result is unknown")
    data = placed(node, op, operand, broadcast_dimensions, len(shape))
    if tuple(shape_of(data) or (-1,)) == shape:
        return data
    known = op.known.constant(operand)
    if known is not None and known.size == 1 and int(np.prod(shape)) == 1:
        return op.constant(known.reshape(shape), element_of(operand))
    return op.Broadcast(data, list(shape), mode="numpy")


@stablehlo.lowers("dynamic_broadcast_in_dim")
def dynamic_broadcast(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, output_dimensions: SSAValue, *, broadcast_dimensions: tuple[int, ...] = ()
) -> SSAValue:
    """stablehlo.dynamic_broadcast_in_dim(x, shape) {broadcast_dimensions} -> opset3.Broadcast(x, shape)"""
    data = placed(node, op, operand, broadcast_dimensions, len(declared_shape(node)))
    return op.Broadcast(data, op.convert(output_dimensions, si64), mode="bidirectional")


@stablehlo.lowers("reshape")
def reshape(node: LoweringNode, op: OpBuilder, operand: SSAValue) -> SSAValue:
    """stablehlo.reshape(x) -> opset1.Reshape(x, shape); opset1.Squeeze or opset1.Unsqueeze where ones come or go"""
    shape = declared_shape(node)
    if sum(size < 0 for size in shape) > 1:
        node.fail("several sizes of its result are unknown")
    if tuple(shape_of(operand) or (-2,)) == shape:
        return operand
    return op.Reshape(operand, op.constant(list(shape), si64), special_zero=False)


@stablehlo.lowers("dynamic_reshape")
def dynamic_reshape(op: OpBuilder, operand: SSAValue, output_shape: SSAValue) -> SSAValue:
    """stablehlo.dynamic_reshape(x, shape) -> opset1.Reshape(x, shape)"""
    return op.Reshape(operand, op.convert(output_shape, si64), special_zero=False)


@stablehlo.lowers("transpose")
def transpose(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, permutation: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.transpose(x) {permutation} -> opset1.Transpose(x, permutation)"""
    if sorted(permutation) != list(range(node.known_rank(0))):
        node.fail(f"{list(permutation)} is no permutation")
    return op.transposed(operand, list(permutation))


@stablehlo.lowers("concatenate")
def concatenate(op: OpBuilder, *inputs: SSAValue, dimension: int = 0) -> SSAValue:
    """stablehlo.concatenate(x…) {dimension} -> opset1.Concat(x…)"""
    return op.Concat(*inputs, axis=dimension) if len(inputs) > 1 else inputs[0]


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
    """Scalars as one list."""
    entries = [op.Reshape(op.convert(each, si64), [1], special_zero=False) for each in values]
    return op.Concat(*entries, axis=0) if len(entries) > 1 else entries[0]


@stablehlo.lowers("dynamic_slice")
def dynamic_slice(op: OpBuilder, operand: SSAValue, *start_indices: SSAValue, slice_sizes: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.dynamic_slice(x, start…) {slice_sizes} -> opset8.Gather or opset8.Slice; a start is moved into the data"""
    return slice_at(op, operand, _starts(op, start_indices), slice_sizes) if start_indices else operand


@stablehlo.lowers("dynamic_update_slice")
def dynamic_update_slice(op: OpBuilder, operand: SSAValue, update: SSAValue, *start_indices: SSAValue) -> SSAValue:
    """stablehlo.dynamic_update_slice(x, update, start…) -> opset3.ScatterUpdate; a start is moved into the data"""
    return updated_at(op, operand, update, _starts(op, start_indices)) if start_indices else update


@stablehlo.lowers("reverse")
def reverse(op: OpBuilder, operand: SSAValue, *, dimensions: tuple[int, ...] = ()) -> SSAValue:
    """stablehlo.reverse(x) {dimensions} -> opset8.Slice(x) with steps of -1"""
    count = len(dimensions)
    return op.Slice(operand, [-1] * count, [-(2**31)] * count, [-1] * count, list(dimensions)) if count else operand


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
        node.fail("its paddings are not those of its operand")
    value = as_scalar(op, padding_value)
    data = with_interior(op, operand, interior_padding or (0,) * rank, value)
    return with_edges(op, data, edge_padding_low, edge_padding_high, value)


@stablehlo.lowers("dynamic_pad")
def dynamic_pad(
    node: LoweringNode, op: OpBuilder, operand: SSAValue, padding_value: SSAValue, low: SSAValue, high: SSAValue, _interior: SSAValue
) -> SSAValue:
    """stablehlo.dynamic_pad(x, value, low, high, interior) -> opset12.Pad(x, low, high, value)"""
    interior = node.constant_integers(4)
    if interior is None or any(interior):
        node.fail("padding between elements of a computed size is not supported")
    ends = [op.convert(each, si64) for each in (low, high)]
    return op.Pad(operand, *ends, as_scalar(op, padding_value), pad_mode="constant")


@stablehlo.lowers("iota")
def iota(node: LoweringNode, op: OpBuilder, *, iota_dimension: int = 0) -> SSAValue:
    """stablehlo.iota() {iota_dimension} -> a constant of positions, in a shape that is broadcast"""
    shape, element = declared_shape(node), result_element(node)
    if not 0 <= iota_dimension < len(shape) or not is_static(shape):
        node.fail("its shape is unknown, or has no such dimension")
    numbers = np.arange(shape[iota_dimension]).astype(to_numpy(element))
    line = numbers.reshape([-1 if axis == iota_dimension else 1 for axis in range(len(shape))])
    if int(np.prod(shape)) <= 1 << 16:
        return op.constant(np.array(np.broadcast_to(line, shape)), element)
    return op.Broadcast(op.constant(line, element), list(shape), mode="numpy")


@stablehlo.lowers("dynamic_iota")
def dynamic_iota(node: LoweringNode, op: OpBuilder, output_shape: SSAValue, *, iota_dimension: int = 0) -> SSAValue:
    """stablehlo.dynamic_iota(shape) {iota_dimension} -> opset3.Broadcast(opset4.Range(0, size, 1), shape)"""
    rank, element = len(declared_shape(node)), result_element(node)
    shape = op.convert(output_shape, si64)
    size = op.Gather(shape, iota_dimension, 0)
    line = op.Range(op.constant(0), size, op.constant(1), output_type=element)
    behind = list(range(1, rank - iota_dimension))
    return op.Broadcast(op.Unsqueeze(line, behind) if behind else line, shape, mode="numpy")


@stablehlo.lowers("get_dimension_size")
def get_dimension_size(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, dimension: int) -> SSAValue:
    """stablehlo.get_dimension_size(x) {dimension} -> opset8.Gather(opset3.ShapeOf(x), dimension, 0)"""
    return op.convert(op.Squeeze(dimension_list(op, operand, dimension), [0]), result_element(node))


@stablehlo.lowers("set_dimension_size", "shape_of", "tuple", "get_tuple_element", "after_all", "create_token")
def refused(node: LoweringNode, _: OpBuilder) -> SSAValue:
    """stablehlo.tuple(x…): refused, because an IR has no such values"""
    node.fail("values of this kind do not exist in an IR", hint="export the program without them")
