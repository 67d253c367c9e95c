"""Shapes, also those that are computed when the model runs.

    %y = stablehlo.broadcast_in_dim(%x) {broadcast_dimensions = [1]}
->  %y = opset3.Broadcast(opset1.Unsqueeze(%x, [0]), shape)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.opset.arithmetic import Add, Divide, Maximum, Minimum, Multiply, Power, Subtract
from moir.dialects.opset.elementwise import Sqrt
from moir.dialects.opset.reduction import ReductionOp
from moir.dialects.shapes import element_of, is_static, rank_of, shape_of
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size

LAST = 2**31 - 1


def declared_shape(node: LoweringNode) -> tuple[int, ...]:
    """The shape that the program declares for the result. Raises ConversionError if its rank is dynamic."""
    shape = shape_of(node.op.results[0])
    if shape is None:
        node.fail("the rank of its result is dynamic")
    return tuple(shape)


def result_element(node: LoweringNode, index: int = 0) -> Attribute:
    """The element type that the program declares for a result."""
    return element_of(node.op.results[index])


def placed(node: LoweringNode, op: OpBuilder, operand: SSAValue, dimensions: Sequence[int], rank: int) -> SSAValue:
    """An operand transposed and unsqueezed to rank `rank`: its dimensions become the axes `dimensions`; other axes have
    size 1.

    Raises ConversionError if the axes do not fit. A scalar is unchanged.
    """
    if len(dimensions) != node.known_rank(0) or any(not 0 <= each < rank for each in dimensions):
        node.fail(f"its broadcast_dimensions {list(dimensions)} do not fit a tensor of rank {node.rank(0)}")
    if list(dimensions) != sorted(dimensions):
        operand = op.transposed(operand, [list(dimensions).index(each) for each in sorted(dimensions)])
    missing = [axis for axis in range(rank) if axis not in dimensions]
    if missing and (extended := with_dimensions(op, operand, tuple(missing), DEEPEST)) is not None:
        return extended
    return op.Unsqueeze(operand, missing) if missing and rank_of(operand) != 0 else operand


DEEPEST = 12
"""The maximum number of operations between a reduction and the insertion of its dimension."""

ELEMENTWISE = (Add, Divide, Maximum, Minimum, Multiply, Power, Sqrt, Subtract)
"""Elementwise operations that `with_dimensions` rebuilds on a reduction that keeps its dimensions."""


def with_dimensions(op: OpBuilder, value: SSAValue, missing: tuple[int, ...], depth: int) -> SSAValue | None:
    """A value computed by elementwise operations from reductions along `missing`, rebuilt with these reductions keeping
    dimensions.

    JAX reduces without `keep_dims` and inserts the dimensions afterwards. Returns None for other values, and for values
    computed by more than `depth` operations.
    """
    owner = value.owner
    if isinstance(owner, ReductionOp):
        is_same = not owner.flag("keep_dims") and op.known.integers(owner.operands[1]) == missing
        return op[owner.name](*owner.operands, keep_dims=True) if is_same else None
    if not isinstance(owner, ELEMENTWISE) or not depth:
        return None
    operands: list[SSAValue] = []
    for each in owner.operands:
        known = op.known.constant(each)
        extended = each if known is not None and known.ndim == 0 else with_dimensions(op, each, missing, depth - 1)
        if extended is None:
            return None
        operands.append(extended)
    return op[owner.name](*operands)


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
    """stablehlo.reshape(x) -> opset1.Reshape(x, shape); opset1.Squeeze or opset1.Unsqueeze if only ones are removed or
    inserted
    """
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


@stablehlo.lowers("iota")
def iota(node: LoweringNode, op: OpBuilder, *, iota_dimension: int = 0) -> SSAValue:
    """stablehlo.iota() {iota_dimension} -> a constant 0, 1, … along that dimension, broadcast to the shape"""
    shape, element = declared_shape(node), result_element(node)
    if not 0 <= iota_dimension < len(shape) or not is_static(shape):
        node.fail("its shape is dynamic, or has no such dimension")
    check_constant_size(shape[iota_dimension])
    values = np.arange(shape[iota_dimension]).astype(to_numpy(element))
    line = values.reshape([-1 if axis == iota_dimension else 1 for axis in range(len(shape))])
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
    after = list(range(1, rank - iota_dimension))
    return op.Broadcast(op.Unsqueeze(line, after) if after else line, shape, mode="numpy")


@stablehlo.lowers("get_dimension_size")
def get_dimension_size(node: LoweringNode, op: OpBuilder, operand: SSAValue, *, dimension: int) -> SSAValue:
    """stablehlo.get_dimension_size(x) {dimension} -> opset8.Gather(opset3.ShapeOf(x), dimension, 0)"""
    return op.convert(op.Squeeze(dimension_list(op, operand, dimension), [0]), result_element(node))


@stablehlo.lowers("set_dimension_size", "shape_of", "tuple", "get_tuple_element", "after_all", "create_token")
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """stablehlo.tuple(x…): refused, because an IR has no such values; likewise get_tuple_element, shape_of, tokens and
    set_dimension_size
    """
    node.fail("values of this kind do not exist in an IR", hint="export the program without them")
