"""Sparse tensors of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe


def places(draw: Draw, shape: list[int]) -> Array:
    """Indices of some elements of a shape, in order."""
    total = int(np.prod(shape))
    chosen = np.sort(np.array(draw.permutation(total)[: draw.integer(0, total)], np.int64))
    return np.stack(np.unravel_index(chosen, shape), -1).astype(np.int64).reshape(-1, len(shape))


def sparse(draw: Draw, dtype: np.dtype[Any], shape: list[int], names: tuple[str, str, str]) -> dict[str, Array]:
    """Indices, values and shape of a sparse tensor."""
    indices = places(draw, shape)
    return dict(zip(names, (indices, draw.array(dtype, [len(indices)], special=0.0), np.array(shape, np.int64)), strict=True))


@recipe("SparseReorder")
def reordered(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = sparse(draw, dtype, draw.filled(1, 3), ("input_indices", "input_values", "input_shape"))
    order = draw.permutation(len(operands["input_values"]))
    for name in ("input_indices", "input_values"):
        operands[name] = operands[name][order]
    return Node(operands, {}, ("input_shape",), fixed=("input_indices",))


@recipe("SparseReshape", NO_TYPE)
def reshaped(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    target = draw.one_of(([-1], shape[::-1], [*shape, 1], [-1, *shape[1:]]))
    operands = sparse(draw, dtype, shape, ("input_indices", "", "input_shape"))
    del operands[""]
    return Node({**operands, "new_shape": np.array(target, np.int64)}, {}, ("input_shape", "new_shape"), fixed=("input_indices",))


@recipe("SparseToDense")
def dense(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    operands = sparse(draw, dtype, draw.filled(1, 3), ("sparse_indices", "sparse_values", "output_shape"))
    for name in ("sparse_indices", "output_shape"):
        operands[name] = operands[name].astype(index)
    if draw.chance(0.2):
        operands["sparse_values"] = draw.array(dtype, [], special=0.0)
    return Node(
        {**operands, "default_value": draw.array(dtype, [], special=0.0)},
        {},
        ("output_shape", "default_value"),
        fixed=("sparse_indices", "sparse_values"),
    )


@recipe("SparseTensorDenseAdd")
def dense_sum(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape, index = draw.filled(1, 3), index_type(draw)
    operands = sparse(draw, dtype, shape, ("a_indices", "a_values", "a_shape"))
    for name in ("a_indices", "a_shape"):
        operands[name] = operands[name].astype(index)
    return Node({**operands, "b": draw.array(dtype, shape, special=0.0)}, {}, ("a_shape",), fixed=("a_indices",))


@recipe("SparseTensorDenseMatMul")
def dense_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows, inner, columns = draw.integers(3, 1, 4)
    flags = {"adjoint_a": draw.chance(0.4), "adjoint_b": draw.chance(0.4)}
    operands = sparse(draw, dtype, [inner, rows] if flags["adjoint_a"] else [rows, inner], ("a_indices", "a_values", "a_shape"))
    matrix = draw.array(dtype, [columns, inner] if flags["adjoint_b"] else [inner, columns], special=0.0)
    return Node({**operands, "b": matrix}, flags, ("a_shape",), fixed=("a_indices",))


@recipe("SparseFillEmptyRows")
def filled_rows(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = sparse(draw, dtype, draw.filled(2, 2), ("indices", "values", "dense_shape"))
    return Node({**operands, "default_value": draw.array(dtype, [], special=0.0)}, {}, ("dense_shape", "default_value"), fixed=("indices",))
