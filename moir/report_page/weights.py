"""The description of the value of a constant in a report: all elements of a small one, a histogram of a large one."""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe
from moir.dialects.large_arrays import ComputedArray

SMALL = 64
"""The largest number of elements of a small constant, all of whose elements are shown."""

SAMPLED = 1 << 16
"""The approximate number of elements of a large constant that are read."""

BARS = 32
"""The number of bars of a histogram."""

_WINDOWS = 16


def described(data: DataAttr) -> dict[str, Any]:
    """The value of a constant, as values of JSON.

    Returns its `bytes` and `shape`; `values` (texts, in C order) of a small one; of a large one of numbers `minimum`,
    `maximum`, `mean`, `deviation` (the standard deviation), `zeros`, `odd` (the elements that are not finite), the
    `counts` of a histogram between minimum and maximum, and the number of elements from which all these are computed
    (`of`).
    """
    description: dict[str, Any] = {"bytes": data.nbytes, "shape": list(data.shape)}
    if describe(data.element).is_packed:
        # The array has bytes of several elements each.
        return description
    size = int(np.prod(data.shape, dtype=np.int64))
    try:
        elements = np.asarray(data.array).reshape(-1) if size <= SMALL else _sample(data)
        if size <= SMALL:
            return {**description, "values": [str(each) for each in elements.tolist()]}
        numbers = elements.astype(np.float64)
    except (TypeError, ValueError):
        # Strings are not numbers; a text may leave the value out.
        return description
    finite = numbers[np.isfinite(numbers)]
    description |= {"of": numbers.size, "odd": numbers.size - finite.size, "zeros": int(np.count_nonzero(finite == 0))}
    if finite.size:
        description |= _distribution(finite)
    return description


def _distribution(numbers: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, Any]:
    """Statistics and histogram of some numbers; statistics beyond the range of a double are left out."""
    low, high = float(numbers.min()), float(numbers.max())
    with np.errstate(over="ignore", invalid="ignore"):
        statistics = {"minimum": low, "maximum": high, "mean": float(numbers.mean()), "deviation": float(numbers.std())}
        span = high - low
    distribution: dict[str, Any] = {name: float(f"{value:.6g}") for name, value in statistics.items() if np.isfinite(value)}
    if np.isfinite(span):
        bins = np.zeros(numbers.shape, np.int64) if span == 0 else ((numbers - low) / span * BARS).astype(np.int64)
        distribution["counts"] = np.bincount(np.minimum(bins, BARS - 1), minlength=BARS).tolist()
    return distribution


def _sample(data: DataAttr) -> np.ndarray[Any, np.dtype[Any]]:
    """A sample of the elements of a large array, from all of its parts, without reading all of it."""
    values = data.values
    if isinstance(values, ComputedArray):
        if values.size <= SAMPLED:
            return np.asarray(values).reshape(-1)
        length = SAMPLED // _WINDOWS
        starts = np.linspace(0, values.size - length, _WINDOWS, dtype=np.int64).tolist()
        return np.concatenate([values.elements(start, start + length) for start in starts])
    array = values
    while array.size > SAMPLED:
        # An odd step does not hit the same place of each group of channels.
        longest = int(np.argmax(array.shape))
        step = min(array.shape[longest], max(3, array.size // SAMPLED | 1))
        array = array[(*(slice(None),) * longest, slice(None, None, step))]
    return np.ascontiguousarray(array).reshape(-1)
