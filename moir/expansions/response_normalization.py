"""Local response normalization across channels, as all frameworks have it.

x / (bias + alpha / size · (sum of the squares of `size` neighbouring channels)) ** beta

Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012.
"""

from __future__ import annotations

from functools import reduce

from xdsl.ir import SSAValue

from moir.dialects.shapes import shape_of
from moir.errors import UnsupportedOperationError
from moir.expansions.shape_values import rank_value
from moir.rewriting.builder import OpBuilder

MAXIMUM_SIZE = 4096
"""Largest number of channels that are added up."""


def response_normalized(op: OpBuilder, x: SSAValue, *, size: int, alpha: float, beta: float, bias: float) -> SSAValue:
    """[N, C, …], normalized across C. `size` may be even: then one more channel counts after each channel than before
    it.

    It is opset1.LRN where the CPU plugin (2026.4) computes that: it truncates the bias to an integer, so that a
    fractional one is factored out, and has no kernel for an unknown number of channels. Raises ConversionError for a
    size that is not positive, or too large.
    """
    if not 1 <= size <= MAXIMUM_SIZE:
        raise UnsupportedOperationError(f"{size} channels are added up, it should be 1 to {MAXIMUM_SIZE}")
    shape = shape_of(x)
    if size % 2 == 0 or (size > 1 and (shape is None or (len(shape) > 1 and shape[1] < 0))):
        base = op.Add(op.Multiply(_neighbour_sums(op, op.Multiply(x, x), size), alpha / size), bias)
        return op.Divide(x, op.Power(base, beta))
    if bias.is_integer() or bias <= 0:
        return op.LRN(x, [1], alpha=alpha, beta=beta, bias=bias, size=size)
    return op.Multiply(op.LRN(x, [1], alpha=alpha / bias, beta=beta, bias=1.0, size=size), bias**-beta)


def _neighbour_sums(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    before, after = (size - 1) // 2, size // 2
    zeros = op.Broadcast(op.constant(0), rank_value(op, x))
    begin, end = (op.ScatterUpdate(zeros, [1], [count], 0) for count in (before, after))
    padded = op.Pad(x, begin, end, op.constant_like(0, x), pad_mode="constant")
    ends = [index - size + 1 or 2**31 - 1 for index in range(size)]
    return reduce(op.Add, [op.Slice(padded, [index], [end], [1], [1]) for index, end in enumerate(ends)])
