"""Greatest common divisors and least common multiples of integers, and Kronecker products."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.rewriting.builder import OpBuilder

MOST_REMAINDERS = 64
"""The maximum number of steps of Euclid's algorithm: enough for all integers of 32 bits and most of 64 bits."""


def greatest_common_divisor(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The greatest common divisor of nonnegative integers, elementwise.

    Euclid's algorithm in a Loop: x and y are replaced by y and x mod y until y is 0.
    """
    shape = op.ShapeOf(op.Add(x, y))
    a, b = op.Broadcast(x, shape), op.Broadcast(y, shape)

    def goes_on(inside: OpBuilder, value: SSAValue) -> SSAValue:
        return inside.ReduceLogicalOr(inside.NotEqual(value, 0), all_axes(inside, value), keep_dims=False)

    def body(inside: OpBuilder, carried: list[SSAValue], _: list[SSAValue], __: list[SSAValue]) -> Step:
        first, second = carried
        is_zero = inside.Equal(second, 0)
        divisor = inside.Select(is_zero, inside.constant_like(1, second), second)
        rest = inside.Subtract(first, inside.Multiply(inside.Divide(first, divisor), divisor))
        after = [inside.Select(is_zero, first, second), inside.Select(is_zero, second, rest)]
        return Step(after, (), goes_on(inside, after[1]))

    last_value, _ = repeated_steps(op, body, [a, b], most=MOST_REMAINDERS, starts=goes_on(op, b))
    return last_value


def least_common_multiple(op: OpBuilder, x: SSAValue, y: SSAValue) -> SSAValue:
    """The product of nonnegative integers, divided by their greatest common divisor; 0 if one of them is 0."""
    return op.Multiply(op.Divide(x, op.Maximum(greatest_common_divisor(op, x, y), 1), m_pythondiv=False), y)


def kronecker_product(op: OpBuilder, x: SSAValue, y: SSAValue, ranks: tuple[int, int]) -> SSAValue:
    """The Kronecker product of two tensors of the given ranks: for each element of x a block of the size of y."""
    rank = max(ranks)
    if rank == 0:
        return op.Multiply(x, y)
    x, y = (op.Unsqueeze(each, list(range(rank - own))) if own < rank else each for each, own in zip((x, y), ranks, strict=True))
    blocks = op.Multiply(op.Unsqueeze(x, [2 * axis + 1 for axis in range(rank)]), op.Unsqueeze(y, [2 * axis for axis in range(rank)]))
    return op.Reshape(blocks, op.Multiply(op.ShapeOf(x), op.ShapeOf(y)), special_zero=False)
