"""bitsandbytes (Dettmers et al., "LLM.int8()", 2022, and "QLoRA", 2023).

8 bits    weight i8 [N, K], SCB f32 [N]                  weight = code · SCB / 127
4 bits    weight u8 [N · K / 2, 1]                       codes in C order, the first of two in the high bits
          weight.absmax f32 [N · K / B]                  weight = table[code] · absmax of its B entries in C order
          weight.quant_map f32 [16]                      the table: nf4 or fp4
          weight.quant_state.bitsandbytes__nf4 u8        JSON: shape, blocksize, quant_type, …
          with double quantization: weight.absmax u8, weight.nested_absmax f32, weight.nested_quant_map f32 [256]
                                                         absmax = map[code] · nested absmax + offset
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

import numpy as np

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.large_arrays import Values, computed
from moir.dialects.memory_map import Array
from moir.frontends.quantized_checkpoints.codes import grouped
from moir.frontends.quantized_checkpoints.quantization import Layer, Settings
from moir.frontends.quantized_checkpoints.scales import GroupScales, single

NF4 = (
    -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635, -0.18477343022823334,
    -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
    0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
)  # fmt: skip
"""The numbers of nf4, in bitsandbytes and in the operation sets."""

FP4 = (0.0, 0.0625, 8.0, 12.0, 4.0, 6.0, 2.0, 3.0)
"""The non-negative numbers of fp4, by their codes, times 12.

The second one, 0.0625 / 12, cannot be represented by f4e2m1.
"""

FP4_DIVISOR = 12

LARGEST_STATE = 1 << 16
"""Largest size in bytes of the JSON with the quantization state of a layer."""

CODES_OF_BYTE = 2


class BitsAndBytes:
    """The quantization method of bitsandbytes. Everything that it needs is in the tensors, so it takes no settings."""

    def __init__(self, settings: Settings) -> None:
        del settings

    def weight(self, layer: Layer) -> StoredWeight | None:
        weight = layer.tensor("weight")
        if weight is None:
            return None
        for kind in ("nf4", "fp4"):
            state = layer.tensor(f"weight.quant_state.bitsandbytes__{kind}")
            if state is not None:
                return _of_four_bits(weight, kind, _state(state, layer), layer)
        scale = layer.tensor("SCB")
        if weight.element != element_types.si8 or scale is None:
            layer.expect(weight.element not in (element_types.ui8, element_types.si8), "the weights have no SCB and no quant_state")
            return None
        # How the codes lie in memory; files have them in C order.
        layer.tensor("weight_format")
        rows = weight.shape[0] if len(weight.shape) == 2 else -1
        layer.expect(
            scale.shape in ((rows,), (rows, 1)) and scale.element == element_types.f32,
            f"SCB {list(scale.shape)} does not fit to {rows} rows",
        )
        scales = computed(_of_largest, scale.values).reshape(rows, 1)
        return StoredWeight(weight, DataAttr(TensorData(scales, element_types.f32, (rows, 1))))


def _of_four_bits(weight: DataAttr, kind: str, state: Mapping[str, Any], layer: Layer) -> StoredWeight:
    """The weight of a layer with codes of 4 bits: codes of nf4 stay codes, those of fp4 become numbers of f16."""
    rows, columns = _sizes(state, layer)
    block = _integer(state, "blocksize", layer)
    table = layer.required("weight.quant_map")
    expected = np.array(NF4 if kind == "nf4" else [*FP4, *(-each for each in FP4)], np.float32) / (1 if kind == "nf4" else FP4_DIVISOR)
    # Tables of fp4 are rounded to a few digits.
    tolerance = 0.0 if kind == "nf4" else 1e-4
    layer.expect(
        table.shape == (16,) and table.element == element_types.f32 and bool(np.all(np.abs(table.array - expected) <= tolerance)),
        f"the table of {kind} has other numbers",
    )
    layer.expect(
        weight.element == element_types.ui8 and math.prod(weight.shape) * CODES_OF_BYTE == rows * columns and columns % 2 == 0,
        f"weights of {math.prod(weight.shape)} bytes do not fit to {rows} rows and {columns} columns",
    )
    scales = _block_scales(state, rows, columns, block, layer)
    group = columns // scales.groups
    layer.expect(group % 2 == 0, f"groups of {group} codes share bytes")
    codes = weight.values.reshape(rows, columns // CODES_OF_BYTE)
    shape = (rows, scales.groups, group) if scales.groups > 1 else (rows, columns)
    if kind == "nf4":
        stored = grouped(computed(_swapped, codes), 4, shape, element_types.nf4)
        return StoredWeight(stored, scales.constant(), is_grouped=len(shape) == 3)
    numbers = computed_rows(_numbers_of_fp4, [codes], (rows, columns), np.float16)
    scales = GroupScales(computed(_of_twelfths, single(scales.values)), scales.groups)
    stored = DataAttr(TensorData(numbers.reshape(shape), element_types.f16, shape))
    return StoredWeight(stored, scales.constant(), is_grouped=len(shape) == 3)


def _block_scales(state: Mapping[str, Any], rows: int, columns: int, block: int, layer: Layer) -> GroupScales:
    """The scales (absmax) of the blocks as [rows, groups]. A group has as many weights as the greatest common divisor
    of `columns` and `block`; all groups within a block get the scale of the block.

    Raises ModelFileError if there is not one scale for each block, if scales are neither f32 nor ui8 codes, or if they
    are codes and a block has several groups.

    Args:
        state: the quantization state of the weights.
        rows, columns: the shape of the weights.
        block: the number of weights in a block, counted across rows.
        layer: the layer.
    """
    absmax = layer.required("weight.absmax", 1)
    count = -(-rows * columns // block)
    layer.expect(absmax.element in (element_types.f32, element_types.ui8), "absmax is neither f32 nor codes")
    layer.expect(absmax.shape == (count,), f"absmax {list(absmax.shape)} does not fit to {count} blocks of {block} codes")
    group = math.gcd(columns, block)
    groups = columns // group
    if absmax.element == element_types.ui8:
        layer.expect(group == block, f"blocks of {block} scales that are codes do not fit to rows of {columns}")
        return GroupScales(_of_nested(absmax.values.reshape(rows, groups), state, layer), groups)
    if group == block:
        return GroupScales(absmax.values.reshape(rows, groups), groups)
    function = partial(_of_blocks, absmax.array, np.arange(groups) * group, block)
    return GroupScales(computed_rows(function, [np.arange(rows).reshape(-1, 1) * columns], (rows, groups), np.float32), groups)


def _of_blocks(scales: Array, columns: Array, block: int, rows: Array) -> Array:
    """The scales [N, groups] of the blocks in which groups begin, at `rows` [N, 1] + `columns` of all weights."""
    return scales[(rows + columns) // block]


def _of_nested(codes: Values, state: Mapping[str, Any], layer: Layer) -> Values:
    """The scales [N, groups] of double quantization: `codes`, each of which stands for a scale, with a second scale for
    each block of codes.
    """
    largest, table = layer.required("weight.nested_absmax", 1), layer.required("weight.nested_quant_map", 1)
    block, offset = _integer(state, "nested_blocksize", layer), state.get("nested_offset")
    layer.expect(isinstance(offset, float | int) and math.isfinite(offset), f"nested_offset is {offset!r}")
    count = -(-codes.size // block)
    layer.expect(
        largest.shape == (count,) and table.shape == (256,) and largest.element == table.element == element_types.f32,
        f"nested_absmax {list(largest.shape)} does not fit to {count} blocks of {block} scales",
    )
    rows = np.arange(codes.shape[0]).reshape(-1, 1)
    function = partial(_from_table, table.array, largest.array, block, np.float32(cast("float", offset)))
    return computed_rows(function, [codes, rows], codes.shape, np.float32)


def _from_table(table: Array, largest: Array, block: int, offset: np.float32, codes: Array, rows: Array) -> Array:
    columns = int(codes.shape[1])
    return table[codes] * largest[(rows * columns + np.arange(columns)) // block] + offset


def _of_largest(scales: Array) -> Array:
    """Scales of codes, from the largest absolute numbers of rows, which have the code 127: `scales` / 127."""
    return scales * np.float32(1 / 127)


def _of_twelfths(scales: Array) -> Array:
    return scales / np.float32(FP4_DIVISOR)


def _swapped(pairs: Array) -> Array:
    return pairs >> np.uint8(4) | pairs << np.uint8(4)


def _numbers_of_fp4(pairs: Array) -> Array:
    """The numbers f16 [n, K], times 12, for bytes [n, K / 2] with two codes of fp4 each."""
    table = np.array([*FP4, *(-each for each in FP4)], np.float16)
    return np.stack([table[pairs >> np.uint8(4)], table[pairs & np.uint8(15)]], -1).reshape(pairs.shape[0], -1)


def _state(data: DataAttr, layer: Layer) -> Mapping[str, Any]:
    """The quantization state of a layer, from a tensor whose bytes are JSON."""
    layer.expect(data.element == element_types.ui8 and math.prod(data.shape) <= LARGEST_STATE, "quant_state is not a text")
    try:
        content: Any = json.loads(data.array.tobytes())
    except (ValueError, RecursionError) as error:
        raise layer.error(f"quant_state is not JSON: {error}") from None
    layer.expect(isinstance(content, dict), "quant_state is not an object of JSON")
    return cast("Mapping[str, Any]", content)


def _integer(state: Mapping[str, Any], key: str, layer: Layer) -> int:
    value = state.get(key)
    layer.expect(type(value) is int and 1 <= value < 1 << 31, f"{key} of quant_state is {value!r}, not a size")
    return cast("int", value)


def _sizes(state: Mapping[str, Any], layer: Layer) -> tuple[int, int]:
    shape = state.get("shape")
    is_matrix = isinstance(shape, list) and [type(each) for each in cast("list[object]", shape)] == [int, int]
    layer.expect(is_matrix and min(cast("list[int]", shape)) > 0, f"shape of quant_state is {shape!r}, not that of a matrix")
    rows, columns = cast("list[int]", shape)
    return rows, columns


method = BitsAndBytes
