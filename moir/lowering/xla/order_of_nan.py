"""Minimum, maximum and sorting keys for floats that may be NaN, with NaN ordered above (or below) all numbers.

The operation sets leave comparisons with NaN undefined. Here an extreme of operands with NaN is NaN.

%1 = opset10.IsNaN(%x)
%2 = opset1.Select(%1, inf, opset1.Minimum(%x, 3.4e38))        // the key of %x: only NaN is infinite
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.element_types import REAL_TYPES, bf16, f16
from moir.dialects.opset.arithmetic import Divide
from moir.dialects.opset.elementwise import Exp
from moir.dialects.shapes import element_of
from moir.rewriting.builder import OpBuilder

_LARGEST: Mapping[Attribute, float] = {f16: 65504.0, bf16: float(np.uint32(0x7F7F0000).view(np.float32))}
"""The largest finite numbers of f16 and bf16."""


def may_be_nan(op: OpBuilder, value: SSAValue) -> bool:
    """Whether a row may have both NaN and numbers. False for integers, constants and results of a softmax."""
    if element_of(value) not in REAL_TYPES or _is_share(value):
        return False
    known: Array | None = op.known.constant(value)
    return known is None or bool(np.isnan(known.astype(np.float64)).any())


def _is_share(value: SSAValue) -> bool:
    """Whether a value is a quotient of exponentials, as in a softmax: a row has either only numbers or only NaN."""
    return isinstance(value.owner, Divide) and isinstance(value.owner.operands[0].owner, Exp)


def with_nan_as_extreme(op: OpBuilder, x: SSAValue, *, largest: bool) -> SSAValue:
    """Sort keys of floats in the order of the floats, with NaN above all numbers if `largest`, else below all
    numbers.
    """
    largest_number = _LARGEST.get(element_of(x), float(np.finfo(np.float32).max))
    if largest:
        return op.Select(op.IsNaN(x), op.constant_like(np.inf, x), op.Minimum(op.constant_like(largest_number, x), x))
    return op.Select(op.IsNaN(x), op.constant_like(-np.inf, x), op.Maximum(op.constant_like(-largest_number, x), x))


def extreme_of_pair(op: OpBuilder, a: SSAValue, b: SSAValue, *, largest: bool) -> SSAValue:
    """The larger or smaller of two floats; NaN if one of them is NaN.

    A maximum is a > b ? a : b, which is b if one of them is NaN; so only a has to be tested for NaN.
    """
    extreme = op.Maximum(a, b) if largest else op.Minimum(a, b)
    return op.Select(op.IsNaN(a), a, extreme) if may_be_nan(op, a) and may_be_nan(op, b) else extreme


def extreme_along(op: OpBuilder, x: SSAValue, axes: Sequence[int], *, largest: bool) -> SSAValue:
    """The maximum or minimum of floats along axes; NaN if an element is NaN."""
    extreme = (op.ReduceMax if largest else op.ReduceMin)(x, list(axes), keep_dims=False)
    if not may_be_nan(op, x):
        return extreme
    has_nan = op.ReduceLogicalOr(op.IsNaN(x), list(axes), keep_dims=False)
    return op.Select(has_nan, op.constant_like(np.nan, extreme), extreme)
