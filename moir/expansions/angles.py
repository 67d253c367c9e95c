"""Angles of points, which OpenVINO IR has no operation for."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f16
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder


def angle_of(op: OpBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle between the first axis and a point (x, y); -0 is on the negative side, as in C."""
    tiny = float(np.finfo(np.float16 if element_of(x) == f16 else np.float32).tiny)
    is_left = is_negative(op, x)
    # 0 is replaced by the smallest number: then 0 / 0 becomes 0, and any other quotient has the angle ±π/2.
    smallest = op.Select(is_left, op.constant_like(-tiny, x), op.constant_like(tiny, x))
    principal = op.Atan(op.Divide(y, op.Select(op.Equal(x, 0), smallest, x)))
    turn = op.Select(is_negative(op, y), op.constant_like(-math.pi, y), op.constant_like(math.pi, y))
    return op.Select(is_left, op.Add(principal, turn), principal)


def is_negative(op: OpBuilder, x: SSAValue) -> SSAValue:
    """Whether numbers are below 0, or -0."""
    # The reciprocal of -0 is negative, that of the negative infinity is not.
    return op.LogicalOr(op.Less(x, 0), op.Less(op.Divide(1, x), 0))
