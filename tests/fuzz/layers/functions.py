"""What layers compute, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import erf

import numpy as np

from tests.fuzz.draw import Array


def logistic(x: Array) -> Array:
    """1 / (1 + exp(-x))"""
    return 1 / (1 + np.exp(-x.astype(np.float64)))


def softmax(x: Array, axis: int) -> Array:
    """The shares of exponentials along an axis."""
    powers = np.exp(x.astype(np.float64) - x.max(axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis, keepdims=True))


FUNCTIONS: Mapping[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "arctan": np.arctan,
    "cos": np.cos,
    "erf": np.vectorize(erf, otypes=[np.float64]),
    "exp": np.exp,
    "floor": np.floor,
    "ceil": np.ceil,
    "negative": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": logistic,
    "sign": np.sign,
    "sin": np.sin,
    "softplus": lambda x: np.logaddexp(0, x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "square": np.square,
    "tanh": np.tanh,
}
"""Functions of single elements."""


def windows(x: Array, kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> Array:
    """The windows of images [N, C, H, W]: [N, C, rows, columns, kernel rows, kernel columns]."""
    extents = [(size - 1) * step + 1 for size, step in zip(kernel, dilations, strict=True)]
    result = np.lib.stride_tricks.sliding_window_view(x, extents, (2, 3))
    return result[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def convolution(x: Array, filters: Array, strides: Sequence[int], dilations: Sequence[int], pads: Sequence[int], groups: int) -> Array:
    """Images [N, C, H, W] by filters [M, C / groups, rows, columns]."""
    padded = np.pad(x, [(0, 0), (0, 0), (pads[0], pads[0]), (pads[1], pads[1])]).astype(np.float64)
    result = windows(padded, filters.shape[2:], strides, dilations)
    parts = zip(np.split(result, groups, 1), np.split(filters, groups), strict=True)
    return np.concatenate([np.einsum("nchwij,mcij->nmhw", data, own) for data, own in parts], 1)


def pooled(x: Array, kernel: Sequence[int], strides: Sequence[int], reduce: Callable[..., Array]) -> Array:
    """The maxima or means of windows without padding, all of which lie in the images."""
    return reduce(windows(x, kernel, strides, (1, 1)), axis=(4, 5))
