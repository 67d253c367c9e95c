"""Sparse weights -> dense ones.

A sparse tensor is stored as the levels of a tree, one for each dimension and each dimension of blocks, in the order of
traversal. A dense level has all its positions, a compressed one lists those that exist (segments and indices).

Source: the table SparsityParameters of the schema; Kjolstad et al., "The Tensor Algebra Compiler".
"""

from __future__ import annotations

from importlib import import_module
from math import prod
from typing import Any

import numpy as np

from moir.dialects.data import Array
from moir.dialects.element_types import ElementType
from moir.frontends.tflite.flatbuffer import ModelFile, integers

LARGEST_EXPANSION = 1 << 8
"""Largest size of dense weights, as a multiple of the size of the file."""


def densified(file: ModelFile, raw: Array, shape: tuple[int, ...], row: ElementType, sparsity: Any, name: str) -> Array:
    """The dense elements of a sparse constant.

    Args:
        file: the file.
        raw: the bytes of the elements that are stored.
        shape: the shape of the constant.
        row: its element type.
        sparsity: the table SparsityParameters.
        name: its name, for messages.

    Raises ModelFileError for indices that the tensor does not have, and for packed elements.
    """
    problem = file.error(f"the indices of the sparse constant {name!r} are inconsistent", "the file is damaged")
    if row.is_packed:
        raise file.error(f"the sparse constant {name!r} has elements of {row.bits} bits, which are not supported")
    if prod(shape) * row.numpy.itemsize > LARGEST_EXPANSION * len(file.mapped):
        raise file.error(f"the sparse constant {name!r} is much larger than the file", "make it dense")
    order, blocks = integers(sparsity.TraversalOrderAsNumpy()), integers(sparsity.BlockMapAsNumpy())
    levels = file.vector(sparsity.DimMetadataLength(), sparsity.DimMetadata)
    if sorted(order) != list(range(len(shape) + len(blocks))) or len(levels) != len(order):
        raise problem
    if any(not 0 <= each < len(shape) for each in blocks):
        raise problem
    sizes = _sizes(shape, order, blocks, levels)
    if sizes is None:
        raise problem
    indices = np.zeros((1, len(order)), np.int64)
    for dimension, metadata in zip(order, levels, strict=True):
        count = len(indices)
        if metadata.Format() == 0:
            if count * sizes[dimension] > prod(shape):
                raise problem
            owners, own = np.repeat(np.arange(count), sizes[dimension]), np.tile(np.arange(sizes[dimension]), count)
        else:
            segments, own = (_vector(metadata, each) for each in ("ArraySegments", "ArrayIndices"))
            if len(segments) != count + 1 or segments[0] != 0 or segments[-1] != len(own) or np.any(np.diff(segments) < 0):
                raise problem
            owners = np.repeat(np.arange(count), np.diff(segments))
        if np.any(own < 0) or np.any(own >= sizes[dimension]):
            raise problem
        indices = indices[owners]
        indices[:, dimension] = own
    values = raw[: raw.size // row.numpy.itemsize * row.numpy.itemsize].view(row.numpy)
    if len(values) < len(indices):
        raise problem
    positions = [indices[:, axis].copy() for axis in range(len(shape))]
    for index, axis in enumerate(blocks):
        positions[axis] = positions[axis] * sizes[len(shape) + index] + indices[:, len(shape) + index]
    dense = np.zeros(shape, row.numpy)
    dense[tuple(positions)] = values[: len(indices)]
    return dense


def _sizes(shape: tuple[int, ...], order: list[int], blocks: list[int], levels: list[Any]) -> list[int] | None:
    """The number of positions of each dimension, and of each dimension of blocks.

    Args:
        shape: the shape of the tensor.
        order: the dimension of each level.
        blocks: the dimension that each dimension of blocks divides.
        levels: the metadata of each level.

    Returns None if the blocks do not fit the shape.
    """
    sizes = [*shape, *[0] * len(blocks)]
    for dimension, metadata in zip(order, levels, strict=True):
        if dimension >= len(shape):
            sizes[dimension] = metadata.DenseSize()
    for index, axis in enumerate(blocks):
        size = sizes[len(shape) + index]
        if size < 1 or shape[axis] % size:
            return None
        sizes[axis] = shape[axis] // size
    return sizes


_VECTORS = {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"}
"""Number of a table in the union of vectors -> the name of the table, which is a list of integers."""


def _vector(metadata: Any, name: str) -> Array:
    """The field `name` of a compressed level, a 1-D tensor of int32, uint16 or uint8."""
    table = getattr(metadata, name)()
    if table is None:
        return np.zeros(0, np.int64)
    class_ = _VECTORS[getattr(metadata, f"{name}Type")()]
    vector: Any = getattr(import_module(f"tflite.{class_}"), class_)()
    vector.Init(table.Bytes, table.Pos)
    return np.array(integers(vector.ValuesAsNumpy()), np.int64)
