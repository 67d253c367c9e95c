"""Powers by repeated squaring, of square matrices or of values with any associative product.

x to the power 5  ->  %2 = opset1.MatMul(%x, %x)
                      %4 = opset1.MatMul(%2, %2)
                      %y = opset1.MatMul(%x, %4)
"""

from __future__ import annotations

from collections.abc import Callable
from math import log

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.errors import UnsupportedOperationError
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import all_axes
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size


def power_by_squares(multiply: Callable[[SSAValue, SSAValue], SSAValue], x: SSAValue, exponent: int) -> SSAValue:
    """x to the power of an exponent of at least 1, by repeated squaring; `multiply` builds a product.

    The result is the product of the powers x, x², x⁴, … for which the exponent has a 1 in its binary form.
    """
    power: SSAValue | None = None
    while exponent:
        if exponent % 2:
            power = x if power is None else multiply(power, x)
        exponent //= 2
        x = multiply(x, x) if exponent else x
    assert power is not None
    return power


def matrix_power(op: OpBuilder, x: SSAValue, exponent: int) -> SSAValue:
    """The power of the square matrices in the last two dimensions; a negative power is a power of their inverses.

    Raises UnsupportedOperationError for the power 0, the identity, of matrices of dynamic size.
    """
    if exponent:
        return power_by_squares(op.MatMul, op.Inverse(x) if exponent < 0 else x, abs(exponent))
    size = (shape_of(x) or (-1,))[-1]
    if size < 0:
        raise UnsupportedOperationError("the size of its matrices is unknown")
    check_constant_size(size, size)
    return op.Broadcast(op.constant_like(np.eye(size), x), op.ShapeOf(x))


TERMS = 12
"""The number of terms of the exponential series: for a matrix of norm 1/2 the next term is 1e-14."""


def exponential_of(op: OpBuilder, x: SSAValue, size: int) -> SSAValue:
    """The exponential function of matrices [..., size, size].

    The series of x / 2ˢ, squared s times, with the smallest s of at least 1 that makes the norms of all
    matrices at most 1/2.

    Source: G. Golub and C. Van Loan, "Matrix Computations", section 9.3 (scaling and squaring).
    """
    norm = op.ReduceL1(x, [-1], keep_dims=False)
    norm = op.ReduceMax(norm, all_axes(op, norm), keep_dims=False)
    count = op.Ceiling(op.Add(op.Divide(op.Log(op.Maximum(norm, 0.75)), log(2)), 1.0))
    identity = op.constant_like(np.eye(size), x)
    scaled = op.Divide(x, op.Power(op.constant_like(2.0, x), count))
    series = op.Add(op.Multiply(scaled, 1 / TERMS), identity)
    for term in range(TERMS - 1, 0, -1):
        series = op.Add(op.Multiply(op.MatMul(scaled, series), 1 / term), identity)

    def body(inside: OpBuilder, states: list[SSAValue], *_: list[SSAValue]) -> Step:
        return Step([inside.MatMul(states[0], states[0])])

    return repeated_steps(op, body, [series], most=op.convert(count, si64))[0]
