"""Tensors of GGUF files -> numbers, or codes with their scales, computed from the blocks when they are written.

Q4_K ui8 [N, K / 256 · 144]  ->  codes u4 [N, K / 32, 32], scale f32 [N, K / 32, 1], zero point f32 [N, K / 32, 1]
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.ir import Attribute

from moir.architectures.stored_weight import StoredWeight
from moir.dialects import element_types
from moir.dialects.computed_rows import computed_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.memory_map import Array
from moir.errors import ModelFileError
from moir.frontends.gguf.blocks import FORMATS, BlockFormat, scale_of, zero_point_of
from moir.frontends.gguf.container import StoredTensor

NUMBERS = element_types.named("F32 f32, F16 f16, BF16 bf16, F64 f64, I8 i8, I16 i16, I32 i32, I64 i64")
"""The element types of the types that are plain numbers."""


def stored_weight(tensor: StoredTensor) -> StoredWeight:
    """The weights of a tensor. Raises ModelFileError for a type whose blocks are not known."""
    if (element := NUMBERS.get(tensor.type.name)) is not None:
        values = tensor.content.view(element_types.to_numpy(element)).reshape(tensor.shape)
        return StoredWeight(DataAttr(TensorData(values, element, tensor.shape)))
    form = FORMATS.get(tensor.type.name)
    if form is None or not tensor.shape:
        raise ModelFileError(
            f"the tensor {tensor.name!r} has the type {tensor.type.name}, whose blocks are not supported",
            location=tensor.location,
            hint=f"quantize the model to one of {', '.join(FORMATS)}",
        )
    blocks = _Blocks(tensor, form)
    return StoredWeight(
        blocks.data(form.codes, form.group, form.element),
        blocks.data(form.scale or blocks.of_parts(scale_of), 1, form.scale_element),
        blocks.data(blocks.of_parts(zero_point_of), 1, element_types.f32) if form.parts else None,
        is_grouped=True,
    )


class _Blocks:
    """The blocks of a tensor.

    Args:
        tensor: the tensor, of at least one dimension.
        form: the format of its blocks.
    """

    def __init__(self, tensor: StoredTensor, form: BlockFormat) -> None:
        self._tensor = tensor
        self._form = form

    def of_parts(self, function: Callable[[tuple[Array, Array]], Array]) -> Callable[[Array], Array]:
        """A function of blocks that applies one to their scales and minima."""
        assert self._form.parts is not None
        parts = self._form.parts
        return lambda blocks: function(parts(blocks))

    def data(self, function: Callable[[Array], Array], entries: int, element: Attribute) -> DataAttr:
        """A constant [rows…, groups, entries of a group] that a function of blocks computes."""
        rows = self._tensor.shape[:-1] or (1,)
        shape = (*rows, self._tensor.shape[-1] // self._form.group, entries)
        row, dtype = element_types.describe(element), element_types.to_numpy(element)
        last = row.storage(entries) if row.is_packed else entries
        content = self._tensor.content.reshape(*rows, self._tensor.content.shape[-1])
        inner = (*shape[len(rows) : -1], last)
        convert = partial(_converted, function, self._tensor.type.bytes, len(rows), inner, dtype)
        return DataAttr(TensorData(computed_rows(convert, [content], (*rows, *inner), dtype, len(rows)), element, shape))


def _converted(
    function: Callable[[Array], Array], size: int, outer: int, inner: tuple[int, ...], dtype: np.dtype[Any], rows: Array
) -> Array:
    """The result of a function of blocks, for rows of bytes."""
    blocks = rows.reshape(*rows.shape[:outer], -1, size) if rows.size else rows.reshape(*rows.shape[:outer], 0, size)
    result = np.ascontiguousarray(function(blocks))
    return (result.view(dtype) if result.dtype == np.uint8 else result.astype(dtype, copy=False)).reshape(*rows.shape[:outer], *inner)
