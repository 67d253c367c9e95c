"""Conversion of numbers in model files."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


@lru_cache(maxsize=4096)
def shortest(value: float) -> float:
    """The decimal number with the shortest text that reads back as this 32-bit float: 0.1, not 0.10000000149011612."""
    return float(str(np.float32(value))) if value else value
