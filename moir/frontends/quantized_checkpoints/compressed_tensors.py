"""compressed-tensors, the format of LLM Compressor.

pack-quantized     weight_packed i32 [N, K · bits / 32], codes + 2 ^ (bits - 1), the first column in the lowest bits
                   weight_shape [N, K], weight_scale, weight_zero_point i32 [N · bits / 32, K / G], weight_g_idx [K]
int-quantized      weight i8 [N, K], weight_scale, weight_zero_point i8
float-quantized    weight F8 [N, K], weight_scale
nvfp4              weight_packed u8 [N, K / 2], weight_scale F8 [N, K / 16], weight_global_scale, their divisor
mxfp4, mxfp8       weight_packed u8 or weight F8, weight_scale u8 [N, K / 32], exponents

Layers may have different forms (`config_groups`): each is known by its tensors.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import Values, computed
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import (
    ELEMENTS,
    SIGNED_ELEMENTS,
    WORD,
    codes_of_words,
    column_order,
    exact_scale,
    words_of,
    zero_points,
)
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings
from moir.frontends.quantized_checkpoints.scaled_floats import EIGHT_BITS, scaled
from moir.frontends.quantized_checkpoints.scales import group_scales, number_of

BITS = (4, 8)
"""The widths of packed codes."""

BLOCK = (128, 128)
"""The rows and columns of blocks with one scale."""


class CompressedTensors:
    """The quantization method compressed-tensors, with its settings.

    Raises ModelFileError for settings that are not supported.
    """

    def __init__(self, settings: Settings) -> None:
        sparsity = settings.table("sparsity_config").get("format", "dense")
        if sparsity != "dense":
            raise settings.error(f"sparse weights in the format {sparsity!r} are not supported", "save the model without sparsity")
        if settings.table("transform_config").get("config_groups"):
            raise settings.error("rotations of activations ('transform_config') are not supported", "quantize the model without them")
        form = settings.text("format")
        if form in ("marlin-24", "dense"):
            raise settings.error(f"the format {form!r} of compressed-tensors is not supported", "save the model as 'pack-quantized'")

    def weight(self, layer: Layer) -> StoredWeight | None:
        packed = layer.tensor("weight_packed")
        if packed is not None and packed.element != element_types.ui8:
            return _packed(packed, layer)
        if packed is not None:
            scale, divisor = layer.required("weight_scale"), layer.tensor("weight_global_scale")
            return scaled(packed, scale, layer, None, None if divisor is None else partial(_divided, number_of(divisor, layer)))
        weight = layer.tensor("weight")
        if weight is not None and weight.element in EIGHT_BITS:
            return scaled(weight, layer.required("weight_scale"), layer, BLOCK)
        if weight is not None and weight.element == element_types.si8:
            return _integers(weight, layer)
        return None


def _packed(packed: DataAttr, layer: Layer) -> StoredWeight:
    """The weight of a layer with codes packed in words of 32 bits."""
    words, shape = words_of(packed, layer), layer.required("weight_shape").array.reshape(-1).tolist()
    layer.expect(
        words.ndim == 2 and len(shape) == 2 and all(isinstance(each, int) and each > 0 for each in shape) and shape[0] == words.shape[0],
        f"weight_packed {list(packed.shape)} does not fit to the shape {shape}",
    )
    rows, columns = shape
    bits = next((each for each in BITS if -(-columns * each // WORD) == words.shape[1]), 0)
    layer.expect(bits > 0 and columns * bits % 8 == 0, f"{columns} codes in {words.shape[1]} 32-bit integers are not of 4 or 8 bits")
    scales = group_scales(layer.required("weight_scale"), rows, columns, layer)
    groups = scales.groups
    layer.expect(columns // groups * bits % 8 == 0, f"groups of {columns // groups} codes share bytes")
    order = column_order(layer.tensor("weight_g_idx"), columns, columns // groups, layer)
    codes = codes_of_words(words, bits, groups, order, columns)
    stored = layer.tensor("weight_zero_point")
    if stored is None:
        codes, zeros = signed(codes, bits), None
    else:
        packed_zeros = words_of(stored, layer)
        layer.expect(
            packed_zeros.shape == (-(-rows * bits // WORD), groups),
            f"weight_zero_point {list(stored.shape)} does not fit to {groups} groups",
        )
        zeros = zero_points(packed_zeros.T, bits, tuple(range(WORD // bits)), rows=rows)
    columns_of = None if order is None else DataAttr.of(order.astype(np.int32))
    return StoredWeight(codes, exact_scale(scales.values, (rows, groups, 1)), zeros, columns_of, is_grouped=True)


def _integers(weight: DataAttr, layer: Layer) -> StoredWeight:
    """The weight of a layer with codes of 8 bits, one in each byte."""
    layer.expect(len(weight.shape) == 2 and min(weight.shape) > 0, f"weights of the shape {list(weight.shape)} are not a matrix")
    rows, columns = weight.shape
    scales = group_scales(layer.required("weight_scale"), rows, columns, layer, BLOCK)
    groups = scales.groups
    shape, inner = ((rows, groups, columns // groups), (rows, groups, 1)) if groups > 1 else ((rows, columns), (rows, 1))
    codes = DataAttr(TensorData(weight.values.reshape(shape), weight.element, shape))
    zeros, stored = None, layer.tensor("weight_zero_point")
    if stored is not None:
        layer.expect(stored.element == element_types.si8, "zero points are not of the type of the codes")
        # Targets keep codes with zero points only if they have no sign.
        codes = _unsigned(codes)
        of_groups = group_scales(DataAttr.of(_as_single(stored.values)), rows, columns, layer, BLOCK)
        layer.expect(of_groups.groups == groups, f"weight_zero_point {list(stored.shape)} does not fit to {groups} groups")
        zeros = DataAttr(TensorData(computed(_zero_points, of_groups.values).reshape(inner), element_types.ui8, inner))
    return StoredWeight(codes, exact_scale(scales.values, inner), zeros, is_grouped=groups > 1)


def signed(codes: DataAttr, bits: int) -> DataAttr:
    """Unsigned codes, of which 2 ^ (bits - 1) stands for 0, as signed codes."""
    flip = _flipped_pairs if bits == 4 else _flipped
    return DataAttr(TensorData(computed(flip, codes.values), SIGNED_ELEMENTS[bits], codes.shape))


def _unsigned(codes: DataAttr) -> DataAttr:
    """Codes i8 plus 128, as u8."""
    values: Values = codes.values
    return DataAttr(TensorData(computed(_flipped, values), ELEMENTS[8], codes.shape))


def _flipped(codes: Array) -> Array:
    return (codes.view(np.uint8) ^ np.uint8(0x80)).view(np.int8 if codes.dtype == np.uint8 else np.uint8)


def _flipped_pairs(pairs: Array) -> Array:
    return pairs ^ np.uint8(0x88)


def _divided(divisor: np.float32, scales: Array) -> Array:
    return scales / divisor


def _as_single(codes: Values) -> Values:
    return codes.astype(np.dtype(np.float32))


def _zero_points(values: Array) -> Array:
    return (values + np.float32(128)).astype(np.uint8)


method = CompressedTensors
