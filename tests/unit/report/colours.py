"""Contrast and distance of colours, also as readers with few cones see them.

Sources: WCAG 2.2, contrast ratio; G. M. Machado et al., A Physiologically-based Model for Simulation of Color Vision
Deficiency, 2009; B. Ottosson, OKLab, 2020.
"""

from __future__ import annotations

import numpy as np

from moir.dialects.memory_map import Array

SEEN: dict[str, Array] = {
    "all cones": np.eye(3),
    "no red cones": np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "no green cones": np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
}
"""What is left of linear sRGB, by what a reader has."""

_TO_LMS = np.array(
    [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566], [0.0883024619, 0.2817188376, 0.6299787005]]
)
_TO_LAB = np.array(
    [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099], [0.0259040371, 0.7827717662, -0.8086757660]]
)


def linear(colour: Array) -> Array:
    """Linear sRGB, from 0 to 1, of a colour with components from 0 to 255."""
    parts = colour / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(first: Array, second: Array) -> float:
    """The contrast ratio of two colours, from 1 to 21."""
    weights = np.array([0.2126, 0.7152, 0.0722])
    low, high = sorted(float(linear(each) @ weights) for each in (first, second))
    return (high + 0.05) / (low + 0.05)


def distance(first: Array, second: Array, seen: Array) -> float:
    """The distance of two colours in OKLab, as a reader sees them."""
    one, other = (_TO_LAB @ np.cbrt(_TO_LMS @ np.clip(seen @ linear(each), 0, 1)) for each in (first, second))
    return float(np.linalg.norm(one - other))
