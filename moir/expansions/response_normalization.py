"""Local response normalization across channels, as all frameworks have it.

x / (bias + alpha / size · (sum of the squares of `size` neighbouring channels)) ** beta

Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012.
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import SSAValue

from moir.errors import UnsupportedOperationError
from moir.expansions.shape_values import rank_value
from moir.rewriting.builder import OpBuilder

MAXIMUM_SIZE = 4096
"""The largest number of neighbouring channels whose squares are added up for each channel."""


def response_normalized(op: OpBuilder, x: SSAValue, *, size: int, alpha: float, beta: float, bias: float) -> SSAValue:
    """opset1.LRN(x, [1]) of [N, C, …], normalized across C.

    `size` may be even: then one more channel counts after each channel than before it, and the sums are computed by
    other operations. Raises ConversionError for a size that is not positive, or too large.
    """
    if not 1 <= size <= MAXIMUM_SIZE:
        raise UnsupportedOperationError(f"{size} channels are added up, it should be 1 to {MAXIMUM_SIZE}")
    if size % 2 == 0:
        return normalized_by_sums(op, x, size=size, alpha=alpha, beta=beta, bias=bias)
    return op.LRN(x, [1], alpha=alpha, beta=beta, bias=bias, size=size)


def normalized_by_sums(op: OpBuilder, x: SSAValue, *, size: int, alpha: float, beta: float, bias: float) -> SSAValue:
    """The same function as `response_normalized`, by a sum of `size` slices; the number of channels may be dynamic."""
    base = op.Add(op.Multiply(_neighbour_sums(op, op.Multiply(x, x), size), alpha / size), bias)
    return op.Divide(x, op.Power(base, beta))


def _neighbour_sums(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    before, after = (size - 1) // 2, size // 2
    zeros = op.Broadcast(op.constant(0), rank_value(op, x))
    begin, end = (op.ScatterUpdate(zeros, [1], [count], 0) for count in (before, after))
    padded = op.Pad(x, begin, end, op.constant_like(0, x), pad_mode="constant")
    ends = [index - size + 1 or 2**31 - 1 for index in range(size)]
    return reduce(op.Add, [op.Slice(padded, [index], [end], [1], [1]) for index, end in enumerate(ends)])
