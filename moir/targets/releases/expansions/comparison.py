"""Tests for infinities and NaN as comparisons."""

from __future__ import annotations

import math
from collections.abc import Mapping

from xdsl.ir import SSAValue

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.rewriting.builder import OpBuilder
from moir.targets.releases.expansions.expansion import Expansion


def is_infinite(op: OpBuilder, node: OpsetOp) -> SSAValue:
    """opset10.IsInf(x) -> |x| = ∞, or x = ∞ or x = -∞ if only one of them is asked for."""
    x = node.operands[0]
    detects = node.flag("detect_negative"), node.flag("detect_positive")
    if detects == (True, True):
        return op.Equal(op.Abs(x), math.inf)
    if detects == (False, False):
        return op.LogicalAnd(op.Equal(x, math.inf), op.Equal(x, -math.inf))
    return op.Equal(x, -math.inf if detects[0] else math.inf)


EXPANSIONS: Mapping[str, Expansion] = {
    # False for NaN, which no comparison holds for.
    "opset10.IsFinite": lambda op, node: op.Less(op.Abs(node.operands[0]), math.inf),
    "opset10.IsInf": is_infinite,
    "opset10.IsNaN": lambda op, node: op.NotEqual(node.operands[0], node.operands[0]),
}
