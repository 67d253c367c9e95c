"""The values of stored weights, by the definition of their fields."""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe
from moir.frontends.quantized_checkpoints.bitsandbytes import NF4

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])

TABLES = {"f4e2m1": E2M1, "nf4": np.array(NF4, np.float32).astype(np.float64)}
"""The numbers of codes by element type."""


def numbers(data: DataAttr) -> np.ndarray[Any, Any]:
    """The elements of a constant as f64, packed ones unpacked."""
    row, stored = describe(data.element), data.array
    if not row.is_packed:
        return stored.reshape(data.shape).astype(np.float64)
    codes = np.stack([stored >> shift & (1 << row.bits) - 1 for shift in range(0, 8, row.bits)], -1).reshape(data.shape).astype(np.int64)
    if row.xml in TABLES:
        return TABLES[row.xml][codes]
    return np.where(codes >= 8, codes - 16, codes).astype(np.float64) if row.xml == "i4" else codes.astype(np.float64)


def values(weight: StoredWeight) -> np.ndarray[Any, Any]:
    """(codes - zero point) * scale, groups joined, in the order of the codes' columns."""
    codes = numbers(weight.codes)
    zero = 0 if weight.zero_point is None else numbers(weight.zero_point)
    return ((codes - zero) * (1 if weight.scale is None else numbers(weight.scale))).reshape(weight.shape)
