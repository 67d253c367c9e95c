"""Running maxima and minima along an axis, and their positions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, boolean, si32, si64, to_numpy, ui32, ui64
from moir.dialects.shapes import element_of, rank_of
from moir.expansions.running_products import prefixes_of
from moir.rewriting.builder import OpBuilder

WIDER: Mapping[Attribute, Attribute] = {ui32: si64, ui64: si64}
"""The integer types that do not fit into 32 bits, each with the type in which it is compared.

Other integers are compared in i32.
"""


def running_extremes(op: OpBuilder, data: SSAValue, axis: int, *, largest: bool) -> tuple[SSAValue, SSAValue]:
    """The running maxima (or minima) along an axis, and the index of the last occurrence of each (i64).

    The rank of the data is static and not 0; the axis is not negative.
    """
    rank, element = rank_of(data) or 1, element_of(data)
    computed = element if element in REAL_TYPES or element in (si32, si64) else WIDER.get(element, si32)
    x = op.convert(data, computed)
    if element in REAL_TYPES:
        lowest, highest = -np.inf, np.inf
    else:
        limits = np.iinfo(to_numpy(computed))
        lowest, highest = int(limits.min), int(limits.max)
    prefixes = prefixes_of(op, x, axis - rank, lowest if largest else highest)
    values = (op.ReduceMax if largest else op.ReduceMin)(prefixes, [axis - rank], keep_dims=False)
    size = op.Gather(op.ShapeOf(x), op.constant(axis), 0)
    indices = op.Range(op.constant(0), size, op.constant(1), output_type=si64)
    shape = [1] * rank
    shape[axis] = -1
    # The running extreme was last reached at the last element that equals it.
    here = op.Select(op.Equal(x, values), op.Reshape(indices, shape, special_zero=False), op.constant(0, si64))
    positions = op.ReduceMax(prefixes_of(op, here, axis - rank, 0), [axis - rank], keep_dims=False)
    return op.NotEqual(values, 0) if element == boolean else op.convert(values, element), positions
