"""Names that numpy has removed and old extensions use: `np.int`, `np.float`, `np.object`, `np.product`, …

    with numpy_aliases():
        np.int is int

They exist while extensions are loaded and run, and only if numpy does not have them. Without them numpy raises an error
that asks to change the code, which users of a foreign extension cannot do.

Source: numpy's release notes of 1.20, 1.25 and 2.0.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import numpy as np

_FUNCTIONS = {
    "alltrue": "all",
    "cumproduct": "cumprod",
    "in1d": "isin",
    "msort": "sort",
    "product": "prod",
    "round_": "round",
    "row_stack": "vstack",
    "sometrue": "any",
    "trapz": "trapezoid",
}
"""Removed name -> the current name in numpy."""

_VALUES: dict[str, Any] = {
    "bool": bool,
    "complex": complex,
    "float": float,
    "int": int,
    "long": int,
    "object": object,
    "str": str,
    "unicode": str,
    "bool8": np.bool_,
    "complex_": np.complex128,
    "float_": np.float64,
    "int0": np.intp,
    "object0": np.object_,
    "string_": np.bytes_,
    "uint0": np.uintp,
    "unicode_": np.str_,
    "Inf": np.inf,
    "Infinity": np.inf,
    "NINF": -np.inf,
    "NaN": np.nan,
    "NZERO": -0.0,
    "PINF": np.inf,
    "PZERO": 0.0,
    "infty": np.inf,
}


@contextmanager
def numpy_aliases() -> Generator[None]:
    """A context in which numpy has the removed names."""
    present = np.__dict__
    functions = {name: present[now] for name, now in _FUNCTIONS.items() if now in present}
    added = {name: value for name, value in {**_VALUES, **functions}.items() if name not in present}
    present.update(added)
    try:
        yield
    finally:
        for name in added:
            present.pop(name, None)
