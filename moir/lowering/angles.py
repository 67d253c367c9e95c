"""Angles of points, which OpenVINO IR has no operation for."""

from __future__ import annotations

import math

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f16
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder


def angle_of(op: OpBuilder, y: SSAValue, x: SSAValue) -> SSAValue:
    """The angle between the first axis and a point (x, y)."""
    tiny = float(np.finfo(np.float16 if element_of(x) == f16 else np.float32).tiny)
    # 0 is replaced by the smallest number: then 0 / 0 becomes 0, and any other quotient has the angle ±π/2.
    principal = op.Atan(op.Divide(y, op.Select(op.Equal(x, 0), tiny, x)))
    # The reciprocal of -0 is negative, that of the negative infinity is not.
    is_below = op.LogicalOr(op.Less(y, 0), op.Less(op.Divide(1, y), 0))
    turn = op.Select(is_below, op.constant_like(-math.pi, y), op.constant_like(math.pi, y))
    return op.Select(op.Less(x, 0), op.Add(principal, turn), principal)
