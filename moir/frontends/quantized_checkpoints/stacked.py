"""The quantized matrices of the experts of a layer as one weight [experts, rows, columns]."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from xdsl.ir import Attribute

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows, stacked_matrices
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import Values
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import unpacked_bytes
from moir.frontends.quantized_checkpoints.quantization import Layer, Quantization


def stacked_weights(layers: Sequence[Layer], quantization: Quantization) -> StoredWeight | None:
    """The weights of layers, which are the matrices of experts; None if they are not quantized.

    Raises ModelFileError if they are quantized in different ways.
    """
    first, *rest = ((layer, quantization.weight(layer)) for layer in layers)
    if first[1] is None:
        return None
    weights = [first[1]]
    for layer, weight in rest:
        layer.expect(weight is not None and _form(weight) == _form(first[1]), f"it is quantized in another way than {first[0].name!r}")
        assert weight is not None
        weights.append(weight)
    layer = first[0]
    layer.expect(
        first[1].columns is None, "the columns of matrices of experts are sorted by their groups (desc_act), which is not supported"
    )
    parts = ([each.codes for each in weights], [each.scale for each in weights], [each.zero_point for each in weights])
    codes, scale, zero_point = (_stacked([each for each in part if each is not None], layer) for part in parts)
    assert codes is not None
    return StoredWeight(codes, scale, zero_point, is_grouped=weights[0].is_grouped)


def _form(weight: StoredWeight) -> tuple[object, ...]:
    """The properties of a weight that have to be the same for all experts, so that their weights can be stacked."""
    return weight.codes.element, weight.codes.shape, weight.zero_point is None, weight.columns is None


def _in_single_precision(data: DataAttr) -> Values:
    """The scales or zero points `data`, unpacked if they are packed, as f32 of the same shape, [N, groups, 1]."""
    row = element_types.describe(data.element)
    if not row.is_packed:
        return data.values.astype(np.dtype(np.float32))
    stored = data.values.reshape(data.shape[0], -1)
    values = computed_rows(partial(_unpacked, row.bits), [stored], (data.shape[0], stored.shape[1] * 8 // row.bits), np.float32)
    return values.reshape(data.shape)


def _unpacked(bits: int, stored: Array) -> Array:
    return unpacked_bytes(stored, bits).astype(np.float32)


def _stacked(parts: Sequence[DataAttr], layer: Layer) -> DataAttr | None:
    """Constants of one shape, stacked along a new first dimension; None if all of them are absent.

    Scales whose types differ become f32.
    """
    if not parts:
        return None
    layer.expect(all(each.shape == parts[0].shape for each in parts), "the matrices of the experts have groups of different sizes")
    elements: set[Attribute] = {each.element for each in parts}
    element = parts[0].element
    arrays = [each.values for each in parts]
    if len(elements) > 1:
        # Some have scales that f16 cannot hold, or a zero point beyond the codes.
        element, arrays = element_types.f32, [_in_single_precision(each) for each in parts]
    return DataAttr(TensorData(stacked_matrices(arrays), element, (len(parts), *parts[0].shape)))
