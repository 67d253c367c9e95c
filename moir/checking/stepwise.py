"""Operations computed with each inner step rounded, such as the squares in a norm.

    opset6.MVN(x), x around 1000    (x - mean)² is 90 000 where x - mean is 300: beyond the largest f16

The arrays of a definition are of a class that rounds the result of each elementwise step and of each product. Sums and
means are accumulated in f32 and rounded once, as devices do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Operation

from moir.checking.formats import NumberFormat
from moir.dialects.memory_map import Array
from moir.dialects.opset.attention import ScaledDotProductAttention
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.normalization import GRN, LRN, MVN, MVN2, BatchNormOp, GroupNormalization, NormalizeL2
from moir.dialects.opset.reduction import ReduceL2

STEPWISE = (MVN, MVN2, GroupNormalization, NormalizeL2, LRN, GRN, BatchNormOp, ReduceL2, ScaledDotProductAttention)
"""The operations whose steps have other ranges than their operands and results: squares, scores, a variance and its ε.

The definitions of other operations take detours for the sake of exactness which no device takes.
"""

_BLOCK = 1 << 22
"""The number of products of a matrix product, in elements, that are added up at a time."""

_EXAMINED = 1 << 16
"""The largest number of elements of a matrix product whose partial sums are computed; elements with the largest sums
are examined first.
"""


class Steps:
    """Rounds the steps of an operation to a number format, and records their extremes.

    Args:
        number_format: the format.

    Attributes:
        largest: the largest finite magnitude of a step, before it was rounded.
        vanishes: whether a step other than 0 became 0.
    """

    def __init__(self, number_format: NumberFormat) -> None:
        self.number_format = number_format
        self.largest = 0.0
        self.vanishes = False

    def rounded(self, values: Array) -> Array:
        """The result of a step in the number format."""
        result = self.number_format.rounded(values)
        magnitude = np.abs(np.where(np.isfinite(values), values, 0))
        self.largest = max(self.largest, float(np.max(magnitude, initial=0)))
        self.vanishes |= bool(np.any((result == 0) & (magnitude > 0)))
        return result


class SteppedArray(NDArray[Any]):
    """A numpy array whose ufuncs (elementwise or matrix products) round their results to the simulated format, by
    `steps`.

    Reductions are not rounded.
    """

    steps: Steps

    def __array_finalize__(self, source: object) -> None:
        if isinstance(source, SteppedArray):
            self.steps = source.steps

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        targets = options.pop("out", ())
        plain = [each.view(np.ndarray) if isinstance(each, SteppedArray) else each for each in inputs]
        result = np.asarray(getattr(ufunc, method)(*plain, **options))
        if method == "__call__" and result.dtype.kind == "f":
            result = self.steps.rounded(result).astype(result.dtype)
        if targets:
            targets[0][...] = result
            return targets[0]
        return _stepped(result, self.steps)


def _stepped(array: Array, steps: Steps) -> SteppedArray:
    view = array.view(SteppedArray)
    view.steps = steps
    return view


def stepwise_results(op: Operation, operands: Sequence[Array], steps: Steps) -> Sequence[Array] | None:
    """The results of an operation with each step rounded; None if it is not in `STEPWISE`, or has no stepwise
    definition.

    Args:
        op: the operation.
        operands: its operands, in the number format.
        steps: records the steps.
    """
    if not isinstance(op, STEPWISE):
        return None
    with np.errstate(all="ignore"):
        results = op.evaluate(*(_stepped(each, steps) if each.dtype.kind == "f" else each for each in operands))
    return None if results is None else [np.asarray(each) for each in results]


def with_overflowing_sums(op: Operation, operands: Sequence[Array], result: Array, steps: Steps) -> Array:
    """The result of a matrix product of floats, infinite where a partial sum, in order, is beyond the largest number.

    Args:
        op: an operation; the result of any other one is returned as it is.
        operands: the operands, in the number format.
        result: the result.
        steps: gets the largest partial sum.
    """
    if not isinstance(op, MatMul) or result.size == 0 or result.dtype.kind != "f":
        return result
    a, b = operands
    a = np.swapaxes(a, -1, -2) if op.flag("transpose_a") and a.ndim > 1 else a
    b = np.swapaxes(b, -1, -2) if op.flag("transpose_b") and b.ndim > 1 else b
    a, b = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    limit, width = steps.number_format.largest, a.shape[-1]
    if not width or float(np.abs(a).max()) * float(np.abs(b).max()) * width <= limit:
        return result
    with np.errstate(all="ignore"):
        bounds = np.matmul(np.abs(a), np.abs(b))
        values = np.array(result, dtype=np.float32).reshape(bounds.shape)
        indices = np.argwhere((bounds > limit) & np.isfinite(bounds) & (np.abs(values) <= limit))
        if len(indices) > _EXAMINED:
            order = np.argpartition(bounds[tuple(indices.T)], -_EXAMINED)
            indices = indices[order[-_EXAMINED:]]
        rows = np.broadcast_to(a, (*bounds.shape[:-2], *a.shape[-2:]))
        columns = np.swapaxes(np.broadcast_to(b, (*bounds.shape[:-2], *b.shape[-2:])), -1, -2)
        for part in np.array_split(indices, max(1, len(indices) * width // _BLOCK)):
            batch = tuple(part[:, :-2].T)
            sums = np.cumsum(rows[(*batch, part[:, -2])] * columns[(*batch, part[:, -1])], axis=-1)
            peaks = np.max(np.abs(sums), axis=-1)
            steps.largest = max(steps.largest, float(np.max(peaks, initial=0)))
            over = peaks > limit
            if over.any():
                first = np.argmax(np.abs(sums[over]) > limit, axis=-1)
                values[tuple(part[over].T)] = np.copysign(np.inf, sums[over, first])
    return values.reshape(result.shape)
