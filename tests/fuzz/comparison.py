"""When results of the runtime are those of a reference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import openvino

from tests.fuzz.draw import Array
from tests.numerical.outcomes import interface_difference, mismatch

TOLERANCES: Mapping[str, tuple[float, float]] = {
    "float16": (5e-3, 5e-3),
    "bfloat16": (8e-2, 8e-2),
    "float32": (1e-3, 2e-5),
    "float64": (1e-3, 2e-5),
    "complex64": (1e-3, 2e-5),
    "complex128": (1e-3, 2e-5),
}
"""Relative tolerance, and the absolute one as a part of the largest finite number of a result: sums cancel.

The runtime computes f64 in f32, and halves in f32 with one rounding at the end; the references round sums of halves at
every step.
"""


def tolerances(wanted: Array) -> tuple[float, float]:
    """Relative and absolute tolerance for a result."""
    relative, part = TOLERANCES.get(wanted.dtype.name, (0.0, 0.0))
    if not part or not wanted.size:
        return relative, part
    sizes = np.abs(wanted.astype(np.complex128 if wanted.dtype.kind == "c" else np.float64))
    finite = sizes[np.isfinite(sizes)]
    return relative, part * max(1.0, float(finite.max()) if finite.size else 1.0)


LIMITS: Mapping[str, float | int] = {
    "float64": float(np.finfo(np.float32).max),
    "int64": int(np.iinfo(np.int32).max),
}
"""The largest number that the CPU plugin has in a type: `f64-infinity` and `i64-width` in docs/plugin-faults.md."""


def limited(array: Array) -> Array:
    """An array with the numbers that the CPU plugin has instead of larger ones."""
    limit = LIMITS.get(array.dtype.name)
    return array if limit is None else np.clip(array, -limit - (array.dtype.kind == "i"), limit)


def values_differ(outputs: Sequence[str], results: Sequence[Array], expected: Sequence[Array]) -> str:
    """How results differ, as a sentence; empty if they do not."""
    for name, result, wanted in zip(outputs, results, expected, strict=True):
        text = mismatch(limited(result), limited(wanted), *tolerances(limited(wanted)))
        if text:
            return f"{name}: {text}"
    return ""


def difference(
    model: openvino.Model, inputs: Sequence[str], outputs: Sequence[str], results: Sequence[Array], expected: Sequence[Array]
) -> str:
    """How a model differs from its source in its interface or its results, as a sentence; empty if it does not."""
    return interface_difference(model, inputs, outputs, expected) or values_differ(outputs, results, expected)
