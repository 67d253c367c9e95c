"""A tensor of a file -> the weight as constants of the IR: plain numbers, or quantized values, scales and zero points.

Nothing is computed here but small tensors: rows of blocks are decoded when they are written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from xdsl.ir import Attribute

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import computed_rows, stacked_matrices
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import describe, f4e2m1, f32, si4
from moir.dialects.memory_map import Array
from moir.frontends.gguf.block_types import TABLES, BlockType
from moir.frontends.gguf.container import StoredTensor
from moir.frontends.quantized_checkpoints.codes import unpacked_bytes

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)
"""The numbers of f4e2m1 by their codes."""


def weight_of(tensor: StoredTensor, is_table: bool = False) -> StoredWeight | None:
    """The weight of a tensor; None for a quantized tensor that is neither a matrix nor a stack of experts' matrices.

    Args:
        tensor: the tensor.
        is_table: whether single rows of it are read, as of embeddings.
    """
    type, shape = tensor.type, tensor.shape
    type = TABLES.get(type.name, type) if is_table else type
    if type.codes is None:
        return StoredWeight(DataAttr(TensorData(tensor.rows.view(describe(type.element).numpy), type.element, shape)))
    if len(shape) not in (2, 3):
        return None
    element = type.element
    row = describe(element)
    part = partial(_part, tensor, type)
    codes = part(_clean_codes if type.minimum else _codes, element, type.group, row.storage(type.group))
    scale = part(_clean_scale if type.minimum else _scale, type.scale_element)
    zero_point = part(_zero_point, f32) if type.minimum else None
    return StoredWeight(codes, scale, zero_point, is_grouped=True)


def stacked(weights: Sequence[StoredWeight]) -> StoredWeight:
    """The stacked weight [E, N, K] of the weights [N, K] of each expert, which have one type and shape."""
    parts = [[each.codes for each in weights], [each.scale for each in weights], [each.zero_point for each in weights]]
    codes, scale, zero_point = (_stacked([each for each in part if each is not None]) for part in parts)
    assert codes is not None
    return StoredWeight(codes, scale, zero_point, is_grouped=weights[0].is_grouped)


def floats_of(type: BlockType, rows: Array) -> Array:
    """The numbers f32 [rows …, columns] of rows of bytes of a type."""
    if type.codes is None:
        return rows.view(describe(type.element).numpy).astype(np.float32)
    assert type.scale is not None
    blocks = rows.reshape(*rows.shape[:-1], rows.shape[-1] // type.size, type.size)
    codes, scale = type.codes(blocks), type.scale(blocks).view(describe(type.scale_element).numpy).astype(np.float32)
    floats = _code_values(type.element, codes).reshape(*scale.shape, type.group) * scale[..., None]
    if type.minimum is not None:
        floats += type.minimum(blocks)[..., None]
    return floats.reshape(*rows.shape[:-1], -1)


def _code_values(element: Attribute, stored: Array) -> Array:
    """The values f32 of quantized values, which are packed if their type has fewer than 8 bits."""
    row = describe(element)
    if not row.is_packed:
        return stored.astype(np.float32)
    codes = unpacked_bytes(stored, row.bits)
    if element == f4e2m1:
        return E2M1[codes]
    sign = 1 << (row.bits - 1) if element == si4 else 0
    return (codes ^ sign).astype(np.float32) - np.float32(sign)


def _stacked(constants: Sequence[DataAttr]) -> DataAttr | None:
    """Constants stacked along a new first dimension; None if the sequence is empty."""
    if not constants:
        return None
    first = constants[0]
    values = stacked_matrices([each.values for each in constants])
    return DataAttr(TensorData(values, first.element, (len(constants), *first.shape)))


def _part(
    tensor: StoredTensor,
    type: BlockType,
    function: Callable[[BlockType, Array], Array],
    element: Attribute,
    entries: int = 1,
    stored: int = 1,
) -> DataAttr:
    """A constant [rows …, groups, entries] that `function` computes from the blocks of a tensor.

    Args:
        tensor: the tensor.
        type: its type.
        function: computes quantized values, scales or zero points of blocks.
        element: the element type of the constant.
        entries: the number of its elements for each group.
        stored: the number of elements of the array for each group, fewer if several share a byte.
    """
    *rows, columns = tensor.shape
    groups = (*rows, columns // type.group)
    outer, dtype = len(rows), describe(element).numpy
    values = computed_rows(partial(_of_rows, function, type, stored), [tensor.rows], (*groups, stored), dtype, outer)
    return DataAttr(TensorData(values, element, (*groups, entries)))


def _of_rows(function: Callable[[BlockType, Array], Array], type: BlockType, stored: int, rows: Array) -> Array:
    """The result of `function` for the blocks of rows of bytes, as [rows …, groups, stored]."""
    result = function(type, rows.reshape(*rows.shape[:-1], rows.shape[-1] // type.size, type.size))
    return result.reshape(*rows.shape[:-1], -1, stored)


def _codes(type: BlockType, blocks: Array) -> Array:
    assert type.codes is not None
    return type.codes(blocks)


def _scale(type: BlockType, blocks: Array) -> Array:
    assert type.scale is not None
    return type.scale(blocks).view(describe(type.scale_element).numpy)


def _clean_codes(type: BlockType, blocks: Array) -> Array:
    """The quantized values of blocks, with 0 in groups whose scale is 0: all values there equal the minimum."""
    codes, is_constant = _codes(type, blocks), _scale(type, blocks) == 0
    return np.where(is_constant[..., None], codes.dtype.type(0), codes) if is_constant.any() else codes


def _clean_scale(type: BlockType, blocks: Array) -> Array:
    """The scales of blocks, with 1 in place of 0, since minima are divided by scales."""
    scale = _scale(type, blocks)
    return np.where(scale == 0, np.float32(1), scale)


def _zero_point(type: BlockType, blocks: Array) -> Array:
    """The zero points of blocks: -minimum / scale"""
    assert type.minimum is not None
    return -type.minimum(blocks) / _clean_scale(type, blocks)
