"""Numbers of 8 or 4 bits with scales: FP8 of DeepSeek, Qwen and FBGEMM, FP8 and NVFP4 of Model Optimizer.

weight             F8_E4M3, F8_E5M2 [N, K]; or two numbers e2m1 in a byte [N, K / 2], the first in the low bits
weight_scale_inv   f32 [N / 128, K / 128], which is multiplied by, whatever its name
weight_scale       a number, [N], [N, 1], [N, K / 16], …
weight_scale_2     a number by which all scales are multiplied (NVFP4)

A target may expand numbers of 8 bits when it loads a model; in the file they are as small as they were. It keeps
those of 4 bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import cast

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import computed
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import nibbles
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings
from moir.frontends.quantized_checkpoints.scales import GroupScales, group_scales, number_of, single

EIGHT_BITS = (element_types.f8e4m3, element_types.f8e5m2)

BYTES = (element_types.ui8, element_types.si8, element_types.f4e2m1)
"""The element types that tensors with two numbers in each byte have in files."""

ALGORITHMS = ("", "fp8", "fp8_per_channel_per_token", "fp8_pb_wo", "nvfp4", "mxfp8", "mxfp4", "mixed_precision", "w4a16_nvfp4")
"""The values of `quant_algo` of Model Optimizer for which a weight is numbers times scales."""


class ScaledFloats:
    """The quantization methods with numbers of 8 or 4 bits, and their settings.

    Raises ModelFileError for settings that are not supported.
    """

    def __init__(self, settings: Settings) -> None:
        algorithm = settings.text("quant_algo")
        if algorithm not in ALGORITHMS:
            raise settings.error(f"Model Optimizer's quantization {algorithm!r} is not supported", "FP8, NVFP4, MXFP8 and MXFP4 are")
        self.block = block_of(settings, "weight_block_size")

    def weight(self, layer: Layer) -> StoredWeight | None:
        weight = layer.tensor("weight")
        if weight is None or weight.element not in (*EIGHT_BITS, *BYTES):
            return None
        scale = layer.tensor("weight_scale_inv", "weight_scale", "scale")
        if scale is None:
            raise layer.error("the weights have no scales weight_scale_inv or weight_scale", "are all files of the model in the folder?")
        factor = layer.tensor("weight_scale_2")
        return scaled(weight, scale, layer, self.block, None if factor is None else partial(np.multiply, number_of(factor, layer)))


def block_of(settings: Settings, key: str) -> tuple[int, int] | None:
    """The rows and columns of a block, from the setting `key`; None if it is absent.

    Raises ModelFileError for other values.
    """
    value = settings.values.get(key)
    if value is None:
        return None
    if (
        not isinstance(value, list)
        or [type(each) for each in cast("list[object]", value)] != [int, int]
        or min(cast("list[int]", value)) < 1
    ):
        raise settings.error(f"{key} is {value!r}, not two sizes")
    height, width = cast("list[int]", value)
    return height, width


def scaled(
    weight: DataAttr, scale: DataAttr, layer: Layer, block: tuple[int, int] | None = None, change: Callable[[Array], Array] | None = None
) -> StoredWeight:
    """The weight of a layer from floating-point numbers of 8 or 4 bits and their scales.

    Args:
        weight: the numbers [N, K], or bytes with two of 4 bits [N, K / 2].
        scale: the scales in one of the forms of `group_scales`.
        layer: the layer, for errors.
        block: the rows and columns of a block.
        change: computes the scales (f32) from those of the file; None if these are the scales.

    Raises ModelFileError if the shapes do not fit together.
    """
    layer.expect(len(weight.shape) == 2 and min(weight.shape) > 0, f"weights of the shape {list(weight.shape)} are not a matrix")
    is_packed = weight.element in BYTES
    rows, columns = weight.shape
    if weight.element in (element_types.ui8, element_types.si8):
        columns *= 2
    layer.expect(not is_packed or columns % 2 == 0, f"rows of {columns} numbers share bytes")
    scales_of_groups = group_scales(scale, rows, columns, layer, block)
    if change is not None:
        scales_of_groups = GroupScales(computed(change, single(scales_of_groups.values)), scales_of_groups.groups)
    shape = (rows, scales_of_groups.groups, columns // scales_of_groups.groups) if scales_of_groups.groups > 1 else (rows, columns)
    if is_packed:
        is_power = (
            change is None and scale.shape == (rows, scales_of_groups.groups) and scale.element in (element_types.ui8, element_types.f8e8m0)
        )
        codes = nibbles(weight, element_types.f4e2m1, shape)
        return StoredWeight(codes, exponents(scale, shape) if is_power else scales_of_groups.constant(), is_grouped=len(shape) == 3)
    values = weight.values.reshape(shape)
    return StoredWeight(DataAttr(TensorData(values, weight.element, shape)), scales_of_groups.constant(), is_grouped=len(shape) == 3)


def exponents(scale: DataAttr, shape: tuple[int, ...]) -> DataAttr:
    """Scales that are powers of two, stored as bytes with their exponents, as a constant of f8e8m0; `shape` is that of
    the codes.
    """
    stored = np.asarray(scale.values).view(element_types.to_numpy(element_types.f8e8m0))
    shape = (*shape[:-1], 1)
    return DataAttr(TensorData(stored.reshape(shape), element_types.f8e8m0, shape))


method = ScaledFloats
