"""Products, running products and norms of complex numbers along axes, by formulas on their parts."""

from __future__ import annotations

from itertools import accumulate

from xdsl.ir import SSAValue

from moir.dialects.shapes import normalize_axis, shape_of
from moir.expansions.complex_numbers import Number, paired, parts, times
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

MAXIMUM_FACTORS = 64
"""The largest number of factors for which a product of complex numbers is unrolled."""


def factor_count(node: LoweringNode, value: SSAValue, axis: int) -> int:
    """The size along an axis. Raises ConversionError if it is dynamic or above MAXIMUM_FACTORS."""
    shape = shape_of(value)
    size = -1 if shape is None else shape[axis]
    if not 0 <= size <= MAXIMUM_FACTORS:
        node.fail(f"products of {size} complex numbers are not computed", hint=f"give x a static shape of up to {MAXIMUM_FACTORS} numbers")
    return size


def product_of_elements(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Prod(x, axes) -> the elements multiplied one by one along each axis.

    Raises ConversionError for dynamic dimensions.
    """
    axes, rank = node.constant_integers(1), node.known_rank(0) - 1
    if axes is None:
        node.fail("the axes are computed when the model runs", hint="make them a constant")
    value = node.operand(0)
    for axis in sorted((normalize_axis(axis, rank) for axis in axes), reverse=True):
        size = factor_count(node, value, axis)
        if not size:
            node.fail("products of no complex numbers are not computed", hint="cut the model after this node")
        factors = [parts(op, op.Gather(value, index, axis)) for index in range(size)]
        while len(factors) > 1:
            pairs = zip(factors[::2], factors[1::2], strict=False)
            factors = [times(op, a, b) for a, b in pairs] + factors[len(factors) & ~1 :]
        value = paired(op, *factors[0])
    if node.flag("keep_dims"):
        value = op.Unsqueeze(value, sorted(normalize_axis(axis, rank) for axis in axes)) if axes else value
    return value


def running_product(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.Cumprod(x, axis) {exclusive, reverse} -> opset1.Concat of the products of the first 1, 2, … elements along the
    axis

    Raises ConversionError for a computed axis and for dynamic dimensions.
    """
    axes, rank = node.constant_integers(1), node.known_rank(0) - 1
    if axes is None:
        node.fail("the axis is computed when the model runs", hint="make it a constant")
    axis, value = normalize_axis(axes[0], rank), node.operand(0)
    indices = range(factor_count(node, value, axis))
    if not indices:
        return value
    factors = [parts(op, op.Slice(value, [index], [index + 1], [1], [axis])) for index in indices]
    if node.flag("reverse"):
        factors.reverse()
    if node.flag("exclusive"):
        shape = op.ShapeOf(factors[0].real)
        one, zero = (op.Broadcast(op.constant_like(element, factors[0].real), shape) for element in (1, 0))
        factors = [Number(one, zero), *factors[:-1]]
    products = list(accumulate(factors, lambda a, b: times(op, a, b)))
    if node.flag("reverse"):
        products.reverse()
    return paired(op, *(op.Concat(*line, axis=axis) for line in ([each.real for each in products], [each.imaginary for each in products])))


def norm(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """tf.EuclideanNorm(x, axes) -> the square root of the sum of the squares of both parts, with imaginary part 0"""
    squares = op.Multiply(node.operand(0), node.operand(0))
    total = op.ReduceSum(op.ReduceSum(squares, [-1], keep_dims=False), node.operand(1), keep_dims=node.flag("keep_dims"))
    return paired(op, op.Sqrt(total), op.Broadcast(op.constant_like(0, total), op.ShapeOf(total)))
