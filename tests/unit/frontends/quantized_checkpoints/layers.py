"""Layers of quantized checkpoints for tests: tensors by name, and codes packed as formats say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.frontends.quantized_checkpoints import Layer, quantization_of

Array = np.ndarray[Any, Any]
Settings = Mapping[str, object]


def layer(tensors: dict[str, Array], separator: str = ".") -> Layer:
    """The layer `fc` with some tensors."""
    named = {f"fc{separator}{name}": DataAttr.of(array) for name, array in tensors.items()}
    return Layer("fc", named.get, "model", separator)


def weight(settings: Settings, tensors: dict[str, Array], separator: str = ".") -> StoredWeight:
    """The weight of a layer, which is quantized."""
    result = quantization_of(settings, "config.json").weight(layer(tensors, separator))
    assert result is not None
    return result


def words(codes: Array, bits: int) -> Array:
    """Codes [N, K] -> words i32 [N, K · bits / 32], the first code in the lowest bits; the last word may not be full."""
    per = 32 // bits
    padded = np.pad(codes.astype(np.uint32), ((0, 0), (0, -codes.shape[1] % per))).reshape(codes.shape[0], -1, per)
    return np.bitwise_or.reduce(padded << (np.arange(per) * bits).astype(np.uint32), -1).view(np.int32)


def pairs(codes: Array, first_is_high: bool = False) -> Array:
    """Codes of 4 bits […, K] -> bytes […, K / 2]."""
    low, high = (codes[..., 1::2], codes[..., 0::2]) if first_is_high else (codes[..., 0::2], codes[..., 1::2])
    return (low | high << 4).astype(np.uint8)
