"""Comparing arrays with a reference, with a tolerance for each element type."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import numpy as np

from moir.dialects.element_types import describe, from_numpy
from moir.dialects.memory_map import Array
from moir.support.records import Record

SINGLE, HALF, QUANTIZED, DISCRETE = 1e-3, 2e-2, 6e-2, 1e-3
"""Tolerances. The first three are the largest difference relative to the largest magnitude in the reference: for f32
and f64 (which the CPU plugin computes in f32), for f16 and bf16, and for floats of a quantized model, where a number
halfway between two levels may become either level. The last one is the share of integers or booleans that may differ;
integers of 8 bits count as equal if they differ by 1, since they may be quantized numbers."""

WEIGHT_BITS = {8: 6e-2, 4: 0.5}
"""Number of bits -> the tolerance for floats after weights were rounded to this number of bits: what networks with
random weights lose (measured in docs/compression.md).
"""


class Difference(Record):
    """The difference of an array from its reference.

    Args:
        error: the difference in the measure of its element type; infinite if the arrays cannot be compared.
        limit: the tolerance.
        reason: why they cannot be compared, or where they are not finite; empty otherwise.
    """

    error: float
    limit: float
    reason: str = ""

    @property
    def exceeds(self) -> bool:
        """Whether the difference is more than the tolerance."""
        return not self.error <= self.limit

    def __str__(self) -> str:
        return self.reason or f"{self.error:.2g}, tolerance {self.limit:.2g}"


def tolerance_of(array: Array, tolerance: float | None = None) -> float:
    """The largest difference allowed for an array: by its element type, or `tolerance` for floats if it is given."""
    if array.dtype.kind in "iub":
        return DISCRETE
    if tolerance is not None:
        return tolerance
    return HALF if array.dtype.itemsize <= 2 else SINGLE


def difference(actual: Array, expected: Array, tolerance: float | None = None) -> Difference:
    """The difference between an array and its reference.

    Args:
        actual: the array.
        expected: the reference. Its element type determines the measure.
        tolerance: replaces the tolerances of floating-point numbers; None for those of the element types.
    """
    limit = tolerance_of(expected, tolerance)
    if actual.shape != expected.shape:
        return Difference(np.inf, limit, f"the shape is {list(actual.shape)}, not {list(expected.shape)}")
    if expected.dtype.kind in "OUS" or actual.dtype.kind in "OUS":
        unequal = sum(_text(a) != _text(b) for a, b in zip(actual.ravel(), expected.ravel(), strict=True))
        return Difference(float(unequal), 0.0, f"{unequal} strings are not equal" if unequal else "")
    if expected.size == 0:
        return Difference(0.0, limit)
    if expected.dtype.kind in "iub":
        apart = np.abs(actual.astype(np.float64) - expected.astype(np.float64))
        return Difference(float(np.mean(apart > (1 if expected.dtype.itemsize == 1 and expected.dtype.kind != "b" else 0))), limit)
    a, b = actual.astype(np.float64), expected.astype(np.float64)
    finite = np.isfinite(b)
    if finite.all() and np.isfinite(a).all():
        return Difference(_largest(a - b) / (_largest(b) + 1e-9), limit)
    if not np.array_equal(np.isfinite(a), finite) or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        index = np.unravel_index(int(np.argmax(np.isfinite(a) != finite)), a.shape)
        position = list(map(int, index))
        return Difference(np.inf, limit, f"element {position} is {a[index]:.6g}, not {b[index]:.6g}")
    return Difference(_largest(a[finite] - b[finite]) / (_largest(b[finite]) + 1e-9), limit)


def _largest(array: Array) -> float:
    """The largest absolute value of an array of f64 without NaN; 0 if it is empty."""
    return float(max(array.max(initial=0.0), -array.min(initial=0.0)))


def is_permuted(actual: Array, expected: Array, tolerance: float | None = None) -> bool:
    """Whether an array is a transposition of its reference: the layout change permutes tensors that keep names.

    `tolerance` replaces the tolerances of floating-point numbers; None for those of the element types.
    """
    if actual.shape == expected.shape or sorted(actual.shape) != sorted(expected.shape) or actual.dtype.kind in "OUS":
        return False
    orders = (order for order in permutations(range(actual.ndim)) if tuple(actual.shape[axis] for axis in order) == expected.shape)
    return any(not difference(actual.transpose(order), expected, tolerance).exceeds for order in orders)


MASKED = 65504.0
"""The largest number of f16. Masks contain it in place of infinity."""


def with_infinities_of(expected: Array, actual: Array) -> Array:
    """`actual`, in which elements that overflow f16 (from ±65504 on) become infinite where the element of `expected` is
    infinite.
    """
    if expected.shape != actual.shape or expected.dtype.kind not in "fV" or actual.dtype.kind not in "fV":
        return actual
    wanted = expected if expected.dtype.isbuiltin == 1 else expected.astype(np.float64)
    if not np.isinf(wanted).any():
        return actual
    wanted, values = wanted.astype(np.float64), actual.astype(np.float64)
    is_masked = np.isinf(wanted) & (np.abs(values) >= MASKED) & (np.sign(values) == np.sign(wanted))
    return np.where(is_masked, wanted, values).astype(actual.dtype) if is_masked.any() else actual


def worst(actual: Mapping[str, Array], expected: Mapping[str, Array], tolerance: float | None = None) -> dict[str, Difference]:
    """The differences of the arrays of `actual` that have a reference in `expected`, by name.

    `tolerance` replaces the tolerances of floating-point numbers; None for those of the element types.
    """
    return {name: difference(array, expected[name], tolerance) for name, array in actual.items() if name in expected}


def first_not_finite(array: Array) -> str | None:
    """`NaN` or `infinite` if an array of floating-point numbers has such an element; None otherwise."""
    if array.dtype.kind not in "fV" or array.size == 0:
        return None
    values = array.astype(np.float64)
    if np.isnan(values).any():
        return "NaN"
    return None if np.isfinite(values).all() else "infinite"


def described(array: Array) -> str:
    """An array in words: "f32[2,10], -1.5 … 3.2, 1 NaN": element type, shape, range of the finite elements, counts of
    the other elements.
    """
    type_ = describe(from_numpy(array.dtype)).xml
    parts = [f"{type_}[{','.join(map(str, array.shape))}]"]
    if array.dtype.kind in "OUS":
        return f"{parts[0]}, {', '.join(map(repr, map(_text, array.ravel()[:3])))}" if array.size else parts[0]
    if array.dtype.kind in "iub":
        values, finite = array, np.ones(array.shape, bool)
    else:
        values = array.astype(np.float64)
        finite = np.isfinite(values)
    if finite.any():
        low, high = values[finite].min(), values[finite].max()
        parts.append(f"{low:.6g}" if low == high else f"{low:.6g} … {high:.6g}")
    nans = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
    infinite = int((~finite).sum()) - nans
    parts += [f"{count} {kind}" for count, kind in ((nans, "NaN"), (infinite, "infinite")) if count]
    return ", ".join(parts)


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
