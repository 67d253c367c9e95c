"""Reductions, positions of minima and maxima, running sums and products, histograms.

    %y = tf.Sum(%x, %axes) {keep_dims = true}
->  %y = opset1.ReduceSum(%x, %axes) {keep_dims = true}
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import INTEGER_TYPES, boolean, f16, f32, si8, si16, si32, si64, to_numpy, ui8, ui16
from moir.dialects.shapes import MAXIMUM_RANK, element_count, element_of, has_no_element, normalize_axis, rank_of, shape_of
from moir.expansions import running_products
from moir.expansions.extremes import first_extremes
from moir.expansions.shape_values import all_axes, as_scalar, without_computed_axes
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import by_formula, by_parts
from moir.lowering.tensorflow.ranks import reduced
from moir.lowering.tensorflow.table import tf
from moir.rewriting.builder import OpBuilder, Operand

_SAME_MEANING = {
    "All": "ReduceLogicalAnd",
    "Any": "ReduceLogicalOr",
    "EuclideanNorm": "ReduceL2",
    "Max": "ReduceMax",
    "Mean": "ReduceMean",
    "Min": "ReduceMin",
    "Prod": "ReduceProd",
    "Sum": "ReduceSum",
}
_IN_FLOATS = ("EuclideanNorm", "Mean")
_OVERFLOWING = ("Prod", "Sum")
_NARROW = (si8, si16, ui8, ui16)


@tf.lowers("All", "Any", "Max", "Min", rank=reduced)
@tf.lowers("Mean", "Sum", rank=reduced, complex=by_parts(0))
@tf.lowers("Prod", rank=reduced, complex=by_formula("tensorflow.complex.products:product_of_elements"))
@tf.lowers("EuclideanNorm", rank=reduced, complex=by_formula("tensorflow.complex.products:norm"))
def reduction(node: LoweringNode, op: OpBuilder, input: SSAValue, reduction_indices: SSAValue, *, keep_dims: bool = False) -> SSAValue:
    """tf.Mean(x, axes) {keep_dims = false} -> opset1.ReduceMean(x, axes) {keep_dims}; likewise the other reductions"""
    kind = node.op.KIND
    if shape_of(reduction_indices) == (0,):
        return op.Abs(input) if kind == "EuclideanNorm" else input
    rank, count = rank_of(input), element_count(shape_of(reduction_indices))
    if not keep_dims and rank is not None and count is not None and op.known.constant(reduction_indices) is None:
        return without_computed_axes(op, _reduced(op, kind, input, reduction_indices, True), reduction_indices, rank, count)
    return _reduced(op, kind, input, reduction_indices, keep_dims)


def _reduced(op: OpBuilder, kind: str, x: SSAValue, axes: SSAValue, keeps: bool) -> SSAValue:
    data, element, name = x, element_of(x), _SAME_MEANING[kind]
    if kind in _OVERFLOWING:
        compute = op.ReduceSum if kind == "Sum" else op.ReduceProd
        return along(compute, axes, keeps, x)
    if kind == "EuclideanNorm" and element in _NARROW:
        # A sum of squared integers may wrap around to a negative number, of which TensorFlow computes 0 as the root.
        wide = op.convert(x, si32)
        total = op.convert(op.ReduceSum(op.Multiply(wide, wide), axes, keep_dims=keeps), element)
        return op.convert(op.Sqrt(op.Maximum(op.convert(total, f32), 0.0)), element)
    # Means and roots of integers are rounded toward 0, which the operation sets leave open.
    if element in INTEGER_TYPES and kind in _IN_FLOATS:
        x = op.convert(x, f32)
    result = getattr(op, name)(x, axes, keep_dims=keeps)
    return result if x is data else op.convert(result, element)


def along(reduce: Callable[..., SSAValue], axes: Operand, keeps: bool, data: SSAValue) -> SSAValue:
    """The data reduced along axes; `reduce` builds the reduction. With `keeps` the axes stay with size 1."""
    return reduce(data, axes, keep_dims=keeps)


@tf.lowers("L2Loss")
def half_sum_of_squares(op: OpBuilder, t: SSAValue) -> SSAValue:
    """tf.L2Loss(t) -> opset1.ReduceSum(opset1.Multiply(t, t)) * 0.5"""
    return op.Multiply(op.ReduceSum(op.Multiply(t, t), all_axes(op, t), keep_dims=False), 0.5)


@tf.lowers("ArgMax", "ArgMin")
def position(node: LoweringNode, op: OpBuilder, input: SSAValue, *, output_type: Attribute = si64) -> SSAValue:
    """tf.ArgMax(x, axis) {output_type = si64} -> opset1.Squeeze(opset11.TopK(x, 1).indices, axis); likewise ArgMin"""
    x = input
    axis = constant_axis(node, 1)
    if element_of(x) == boolean:
        x = op.convert(x, ui8)
    index = output_type if output_type in (si32, si64) else si32
    mode = "max" if node.op.KIND == "ArgMax" else "min"
    _, indices = first_extremes(op, x, axis, mode, index)
    return op.convert(op.Squeeze(indices, [axis]), output_type)


def constant_axis(node: LoweringNode, index: int) -> int:
    """The axis in a constant operand. Raises ConversionError if it is not constant and the data have several axes."""
    axis = node.constant_integers(index)
    if axis is not None and len(axis) == 1:
        return axis[0]
    if node.rank(0) == 1:
        return 0
    return node.fail("the axis is computed when the model runs", hint="make the axis a constant")


# Running sums and products


@tf.lowers("Cumsum", complex=by_parts(0))
def running_sum(op: OpBuilder, x: SSAValue, axis: SSAValue, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """tf.Cumsum(x, axis) {exclusive = false, reverse = false} -> opset3.CumSum(x, axis) {exclusive, reverse}"""
    return op.CumSum(x, axis, exclusive=exclusive, reverse=reverse)


@tf.lowers("Cumprod", complex=by_formula("tensorflow.complex.products:running_product"))
def running_product(node: LoweringNode, op: OpBuilder, x_: SSAValue, *, exclusive: bool = False, reverse: bool = False) -> SSAValue:
    """tf.Cumprod(x, axis) {exclusive, reverse}
    -> products of 1, 2, 4, … neighbours; if the length is dynamic, opset1.ReduceProd of the prefix of each element
    """
    if has_no_element(shape_of(x_)):
        return x_
    x, axis = line_axis(node, op)
    return as_before(node, op, running_products.running_product(op, x, axis, exclusive=exclusive, reverse=reverse), x)


@tf.lowers("CumulativeLogsumexp")
def running_sum_of_exponentials(
    node: LoweringNode, op: OpBuilder, x_: SSAValue, *, exclusive: bool = False, reverse: bool = False
) -> SSAValue:
    """tf.CumulativeLogsumexp(x, axis) {exclusive, reverse} -> Log(ReduceSum(Exp(…))) of the prefix of each element

    The largest element of a prefix (for an empty prefix, the lowest number) is subtracted first, because exponentials
    would overflow otherwise.
    """
    if has_no_element(shape_of(x_)):
        return x_
    x, axis = line_axis(node, op)
    prefixes = running_products.prefixes_of(op, x, axis, -np.inf, exclusive=exclusive, reverse=reverse)
    smallest = float(np.finfo(np.float16 if element_of(prefixes) == f16 else np.float32).min)
    largest = op.Maximum(op.ReduceMax(prefixes, [axis], keep_dims=True), smallest)
    total = op.Log(op.ReduceSum(op.Exp(op.Subtract(prefixes, largest)), [axis], keep_dims=False))
    return as_before(node, op, op.Add(total, op.Squeeze(largest, [axis])), x)


def line_axis(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, int]:
    """Operand 0, and the axis in operand 1 as a negative number.

    If the axis is computed, or is nonnegative while the rank is dynamic, operand 0 is reshaped to three dimensions: the
    dimensions before the axis merged, the axis, and those after it merged.
    """
    x, axis, rank = node.operand(0), node.constant_integers(1), node.rank(0)
    if rank == 1:
        return x, -1
    if axis is not None and len(axis) == 1 and rank is not None:
        normalize_axis(axis[0], rank)
    if axis is not None and len(axis) == 1 and (-MAXIMUM_RANK <= axis[0] < 0 or rank is not None):
        return x, axis[0] - (rank or 0) if axis[0] >= 0 else axis[0]
    shape, axis_value = op.ShapeOf(x), op.Reshape(op.convert(node.operand(1), si64), [1], special_zero=False)
    axis_value = op.Select(op.Less(axis_value, 0), op.Add(axis_value, op.ShapeOf(shape)), axis_value)
    before = op.Slice(shape, [0], axis_value, [1], [0])
    # The product of no dimensions is 1.
    rows = op.ReduceProd(op.Concat([1], before, axis=0), [0], keep_dims=True)
    return op.Reshape(x, op.Concat(rows, op.Gather(shape, axis_value, 0), [-1], axis=0), special_zero=False), -2


def as_before(node: LoweringNode, op: OpBuilder, result: SSAValue, x: SSAValue) -> SSAValue:
    """A result reshaped to the shape of operand 0; unchanged if x, from which it was computed, is operand 0 itself."""
    return result if x is node.operand(0) else op.Reshape(result, op.ShapeOf(node.operand(0)), special_zero=False)


# Histograms


@tf.lowers("Bincount")
def histogram(node: LoweringNode, op: OpBuilder, arr: SSAValue) -> SSAValue:
    """tf.Bincount(arr, size, weights) -> opset1.ReduceSum(opset1.OneHot(arr, size) * weights) over all elements of x"""
    flat = arr if rank_of(arr) == 1 else op.Reshape(arr, [-1], special_zero=False)
    return counted(node, op, flat)


@tf.lowers("DenseBincount")
def histogram_of_rows(node: LoweringNode, op: OpBuilder, input: SSAValue, *, binary_output: bool = False) -> SSAValue:
    """tf.DenseBincount(x, size, weights) {binary_output}
    -> opset1.ReduceSum(opset1.OneHot(x, size) * weights) for each row of x

    With `binary_output`: opset1.ReduceMax of the OneHot.
    """
    return counted(node, op, input, binary_output)


def counted(node: LoweringNode, op: OpBuilder, x: SSAValue, binary: bool = False) -> SSAValue:
    """For each row of x, how often each integer below operand 1 occurs, or the sum of the weights of its occurrences.

    Operand 2 has a weight per element; if it is empty, all weights are 1. With `binary` the result is 1 for each
    integer that occurs.
    """
    weights, element = node.operand(2), node.element_attribute("T", node.element(2))
    size = op.convert(as_scalar(op, node.operand(1)), si64)
    one, zero = (op.constant(np.asarray(value, to_numpy(element))) for value in (1, 0))
    ones = op.OneHot(op.convert(x, si64), size, one, zero, axis=-1)
    if binary:
        return op.ReduceMax(ones, [-2], keep_dims=False)
    shape = shape_of(weights)
    if element_count(shape) != 0:
        if shape is None or -1 in shape:
            weights = _ones_if_empty(op, weights, x, one)
        elif rank_of(x) is None:
            weights = op.Reshape(weights, op.ShapeOf(x), special_zero=False)
        elif rank_of(x) != len(shape):
            weights = op.Reshape(weights, [-1], special_zero=False)
        ones = op.Multiply(ones, op.Unsqueeze(weights, [-1]))
    return op.ReduceSum(ones, [-2], keep_dims=False)


def _ones_if_empty(op: OpBuilder, weights: SSAValue, x: SSAValue, one: SSAValue) -> SSAValue:
    """The weights; if they are empty, the scalar `one` broadcast to the shape of x."""
    flat = op.Reshape(weights, [-1], special_zero=False)
    missing = op.Subtract(op.ReduceProd(op.ShapeOf(x), [0], keep_dims=True), op.ShapeOf(flat))
    return op.Reshape(op.Concat(flat, op.Broadcast(one, missing), axis=0), op.ShapeOf(x), special_zero=False)


@tf.lowers("HistogramFixedWidth")
def histogram_of_ranges(
    node: LoweringNode, op: OpBuilder, _values: SSAValue, _value_range: SSAValue, nbins: SSAValue, *, dtype: Attribute = si32
) -> SSAValue:
    """tf.HistogramFixedWidth(x, [low, high], n) {dtype}
    -> opset1.ReduceSum(opset1.OneHot(clamp((x - low) * n / (high - low), 0, n - 1), n))
    """
    x, limits = (op.convert(node.operand(index), f32) for index in (0, 1))
    count = as_scalar(op, nbins)
    low, high = (op.Gather(limits, index, 0) for index in (0, 1))
    width = op.Divide(op.Subtract(high, low), op.convert(count, f32))
    offset = op.Divide(op.Subtract(op.Maximum(op.Reshape(x, [-1], special_zero=False), low), low), width)
    last = op.convert(op.Subtract(count, 1), f32)
    indices = op.convert(op.Floor(op.Minimum(offset, last)), si64)
    one, zero = (op.constant(np.asarray(value, to_numpy(dtype))) for value in (1, 0))
    return op.ReduceSum(op.OneHot(indices, op.convert(count, si64), one, zero, axis=-1), [0], keep_dims=False)
