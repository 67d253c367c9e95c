"""One-hot encoding, cumulative sums, and operations that order, search or collect elements by their value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, describe, si32, si64, string
from moir.dialects.shapes import element_count, element_of, normalize_axis, rank_of, shape_of
from moir.expansions.shape_values import as_list, as_scalar
from moir.expansions.strings.texts import unpacked
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.operands import swapping
from moir.lowering.onnx.strings.movement import moves_strings
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder, Operand


def as_index(node: LoweringNode, op: OpBuilder, index: int) -> SSAValue:
    """An operand of any numeric element type, converted to an integer type that the runtime takes for indices."""
    value = node.operand(index)
    if node.element(index) in (si32, si64):
        return value
    known = node.constant(index)
    return op.convert(value, si64) if known is None else op.constant(known.astype(np.int64))


@onnx.lowers("OneHot", since=9)
@moves_strings(2)
def one_hot(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.OneHot(indices, depth, [off, on]) {axis = -1}
    -> opset16.OneHot(indices, depth, on, off) {axis, negative_indices_mode}

    A negative index counts from the end; before version 11 it selects no entry.
    """
    indices, depth = (as_index(node, op, i) for i in (0, 1))
    values = node.constant(2)
    if values is not None and values.size == 2:
        off, on = (op.constant(np.asarray(values.ravel()[i])) for i in (0, 1))
    else:
        off, on = (op.Gather(node.operand(2), i, 0) for i in (0, 1))
    mode = "normalize" if node.version >= 11 else "ignore_negative"
    return op.OneHot(indices, as_scalar(op, depth), on, off, axis=node.integer("axis", -1), negative_indices_mode=mode)


@onnx.lowers("CumSum", since=11)
def cumulative_sum(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.CumSum(x, axis) {exclusive, reverse} -> opset3.CumSum(x, axis) {exclusive, reverse}"""
    return op.CumSum(node.operand(0), as_scalar(op, node.operand(1)), exclusive=node.flag("exclusive"), reverse=node.flag("reverse"))


@onnx.lowers("CumProd")
def cumulative_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.CumProd(x, axis) {exclusive, reverse} -> ReduceProd of the elements up to each place

    If the length of the axis is known, products of 1, 2, 4, … neighbours are multiplied instead.
    """
    x, rank, axis = node.operand(0), node.known_rank(0), node.constant_integers(1)
    if axis is None and rank > 1:
        order = swapping(op, as_list(op, node.operand(1)), 0, rank)
        return op.Transpose(_products(node, op, op.Transpose(x, order), 0), order)
    if axis is not None and len(axis) != 1:
        node.fail("the axis is no number")
    return _products(node, op, x, normalize_axis(0 if axis is None else axis[0], rank))


def _products(node: LoweringNode, op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    is_reversed = node.flag("reverse")
    x = op.Slice(x, [-1], [-(2**31)], [-1], [axis]) if is_reversed else x
    if node.flag("exclusive"):
        x = _moved(op, x, axis, 1)
    size = (shape_of(x) or ())[axis]
    if size < 0:
        x = _product_of_triangle(op, x, axis)
    else:
        distance = 1
        while distance < size:
            x, distance = op.Multiply(x, _moved(op, x, axis, distance)), distance * 2
    return op.Slice(x, [-1], [-(2**31)], [-1], [axis]) if is_reversed else x


def _moved(op: OpBuilder, x: SSAValue, axis: int, distance: int) -> SSAValue:
    """x moved along an axis by some elements, which are 1 at the beginning."""
    pads = [0] * (rank_of(x) or 1)
    pads[axis] = distance
    padded = op.Pad(x, pads, [0] * len(pads), op.constant_like(1, x), pad_mode="constant")
    return op.Slice(padded, [0], [-distance], [1], [axis])


def _product_of_triangle(op: OpBuilder, x: SSAValue, axis: int) -> SSAValue:
    """The products of the elements up to each place of an axis of unknown length, from all pairs of places."""
    behind = (rank_of(x) or 1) - 1 - axis
    places = op.Range(0, op.Gather(op.ShapeOf(x), axis, 0), 1, output_type=si64)
    rows, columns = (op.Unsqueeze(places, [first, *range(2, 2 + behind)]) for first in (1, 0))
    factors = op.Select(op.LessEqual(columns, rows), op.Unsqueeze(x, [axis]), op.constant_like(1, x))
    return op.ReduceProd(factors, [axis + 1], keep_dims=False)


@onnx.lowers("TopK")
def top_k_attribute(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.TopK(x) {k, axis = -1} -> opset11.TopK(x, k) {axis, mode = max, sort = value, stable}"""
    return ranked(node, op, node.integer("k"))


@onnx.lowers("TopK", since=10)
def top_k(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.TopK(x, k) {axis = -1, largest = 1, sorted = 1} -> opset11.TopK(x, k) {axis, mode, sort, stable}"""
    return ranked(node, op, as_scalar(op, node.operand(1)))


def ranked(node: LoweringNode, op: OpBuilder, k: Operand) -> Sequence[SSAValue]:
    """The k largest or smallest elements of operand 0 and their indices; of equal elements the first ones."""
    by_value = node.flag("sorted", True)
    return op.TopK.results(
        node.operand(0),
        k,
        axis=node.integer("axis", -1),
        mode="max" if node.flag("largest", True) else "min",
        sort="value" if by_value else "none",
        stable=by_value,
        index_element_type=si64,
    )


@onnx.lowers("NonZero")
def non_zero(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """onnx.NonZero(x) -> opset3.NonZero(x); for a scalar, which has no axis, its shape is [0, 1] or [0, 0]

    Strings are compared with the empty string.
    """
    x = node.operand(0)
    known = node.constant(0)
    if known is not None and known.ndim:
        # The runtime (2026.4) does not compile that of many constants.
        return op.constant(np.stack(np.nonzero(known)).astype(np.int64))
    if element_of(x) == string:
        texts = unpacked(op, x)
        x = op.Subtract(texts.ends, texts.begins)
    if rank_of(x) is None:
        # The runtime (2026.4) takes a scalar for a list.
        return op.Slice(op.NonZero(x), [0], op.ShapeOf(op.ShapeOf(x)), [1], [0])
    if rank_of(x) != 0:
        return op.NonZero(x)
    return op.Slice(op.NonZero(op.Reshape(x, [1], special_zero=False)), [0], [0], [1], [0])


@onnx.lowers("Unique")
def unique(node: LoweringNode, op: OpBuilder) -> Sequence[SSAValue]:
    """onnx.Unique(x) {axis, sorted = 1} -> opset10.Unique(x, axis) {sorted}

    Without an axis and without sorting, the runtime (2026.4, CPU) computes wrong elements if the indices of the values
    have no uses. In that case the flattened operand is searched along its axis.
    """
    data, is_sorted = node.operand(0), node.flag("sorted", True)
    if node.element(0) == string:
        node.fail("the runtime orders no strings", hint="cut the model before this node")
    narrow = describe(node.element(0)).bits < 32 and node.element(0) in {*INTEGER_TYPES, boolean}
    if narrow:
        # The runtime (2026.4, CPU) computes other positions of integers of 8 bits.
        data = op.convert(data, si32)
    values, *positions = _unique(node, op, data, is_sorted)
    return [op.convert(values, node.element(0)), *positions]


def _unique(node: LoweringNode, op: OpBuilder, data: SSAValue, is_sorted: bool) -> Sequence[SSAValue]:
    if not node.has("axis") and element_count(node.shape(0)) == 0:
        # The runtime (2026.4) crashes on constants without elements.
        none = op.constant(np.zeros(0, np.int64))
        return [op.constant_like(np.zeros(0), data), none, none, none]
    if node.has("axis"):
        return op.Unique.results(data, node.integer("axis"), sorted=is_sorted)
    if is_sorted or node.is_used(2):
        return op.Unique.results(data, sorted=is_sorted)
    return op.Unique.results(data if node.rank(0) == 1 else op.Reshape(data, [-1], special_zero=False), 0, sorted=False)
