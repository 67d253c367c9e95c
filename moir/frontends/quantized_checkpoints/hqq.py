"""HQQ (Badri and Shaji, "Half-Quadratic Quantization of Large Machine Learning Models", 2023).

W_q u8 [N · K / (G · p), G]    codes of groups, p a byte: the first groups in the highest bits
scale, zero [N · K / G, 1]     floating-point numbers
shape, nbits, axis, packing    settings of the layer, each a tensor

weight = (code - zero) · scale
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows, repeated_rows
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import exact_scale, grouped, packed
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings

BITS = (2, 4, 8)

UNUSED = (
    "packing unpack_view_dtype view_as_float quant_scale quant_zero compute_dtype offload_meta encoded_state_dict stores_quant_config "
    "channel_wise optimize round_zero group_size"
)
"""Settings of a layer that are not needed: how it was quantized, and what follows from the shapes of its tensors."""


class HQQ:
    """The quantization method HQQ. Each layer has settings of its own, so it takes none."""

    def __init__(self, settings: Settings) -> None:
        del settings

    def weight(self, layer: Layer) -> StoredWeight | None:
        stored = layer.tensor("W_q")
        if stored is None:
            return None
        rows, columns = _integers(layer, "shape", 2)
        bits, axis = *_integers(layer, "nbits", 1), *_integers(layer, "axis", 1)
        layer.expect(bits in BITS, f"HQQ with {bits} bits is not supported; 2, 4 and 8 are")
        layer.expect(axis == 1, "HQQ with groups along the rows (axis 0) is not supported; quantize with axis=1")
        scale, zero = layer.required("scale"), layer.required("zero")
        for name in UNUSED.split():
            layer.tensor(name)
        per, count = 8 // bits, math.prod(scale.shape)
        group = rows * columns // max(1, count)
        layer.expect(
            stored.element == element_types.ui8
            and rows % per == 0
            and count * group == rows * columns
            and columns % max(1, group) == 0
            and math.prod(stored.shape) * per == rows * columns
            and scale.shape == zero.shape
            and scale.element in element_types.REAL_TYPES
            and zero.element in element_types.REAL_TYPES
            and group * bits % 8 == 0,
            f"W_q {list(stored.shape)}, scale {list(scale.shape)} and zero {list(zero.shape)} do not fit to a matrix {rows} x {columns}",
        )
        number = np.arange(rows)
        source = repeated_rows(np.asarray(stored.values).reshape(rows // per, columns), number % (rows // per))
        shifts = ((per - 1 - number // (rows // per)) * bits).astype(np.uint8).reshape(rows, 1)
        codes = computed_rows(partial(_codes, bits), [source, shifts], (rows, columns * bits // 8), np.uint8)
        inner = (rows, columns // group, 1)
        return StoredWeight(
            grouped(codes, bits, (rows, columns // group, group)),
            exact_scale(scale.values, inner),
            exact_scale(zero.values, inner),
            is_grouped=True,
        )


def _codes(bits: int, stored: Array, shifts: Array) -> Array:
    return packed(stored >> shifts & np.uint8((1 << bits) - 1), bits)


def _integers(layer: Layer, name: str, count: int) -> tuple[int, ...]:
    """The integers of a layer's tensor `name`. Raises ModelFileError unless there are `count` of them, all positive."""
    data = layer.required(name)
    layer.expect(
        math.prod(data.shape) == count
        and data.element in element_types.INTEGER_TYPES
        and not element_types.describe(data.element).is_packed,
        f"{name} is not {count} integers",
    )
    integers = tuple(int(each) for each in data.array.reshape(-1))
    layer.expect(all(0 <= each < 1 << 31 for each in integers) and (name != "shape" or min(integers) > 0), f"{name} is {list(integers)}")
    return integers


method = HQQ
