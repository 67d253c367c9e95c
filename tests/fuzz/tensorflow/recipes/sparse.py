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


@recipe("SparseSparseMaximum SparseSparseMinimum")
def pairwise(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    operands = {
        **sparse(draw, dtype, shape, ("a_indices", "a_values", "a_shape")),
        **sparse(draw, dtype, shape, ("b_indices", "b_values", "b_shape")),
    }
    return Node(operands, {}, ("a_shape", "b_shape"), fixed=("a_indices", "b_indices"))


@recipe("SparseAdd")
def sparse_sum(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pairwise(draw, dtype)
    threshold = np.array(draw.one_of((0, 0, 1)), np.float32 if dtype.kind == "c" else dtype)
    return Node({**node.operands, "thresh": threshold}, {}, (*node.structural, "thresh"), fixed=node.fixed)


@recipe("SparseDenseCwiseAdd SparseDenseCwiseMul SparseDenseCwiseDiv")
def with_dense(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    operands = sparse(draw, dtype, shape, ("sp_indices", "sp_values", "sp_shape"))
    return Node({**operands, "dense": draw.positive(dtype, draw.broadcasts_to(shape))}, {}, ("sp_shape",), fixed=("sp_indices", "dense"))


@recipe("SparseSoftmax")
def sparse_softmax(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands = sparse(draw, dtype, draw.filled(2, 3), ("sp_indices", "sp_values", "sp_shape"))
    return Node(operands, {}, ("sp_shape",), fixed=("sp_indices",))


@recipe("SparseReduceSum SparseReduceMax")
def reduced(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    operands = sparse(draw, dtype, shape, ("input_indices", "input_values", "input_shape"))
    axes = np.array(draw.axes(len(shape)), np.int32)
    attributes = {"keep_dims": draw.chance(0.5)}
    return Node({**operands, "reduction_axes": axes}, attributes, ("input_shape", "reduction_axes"), fixed=("input_indices",))


@recipe("SparseConcat")
def concatenated(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    axis = draw.axis(len(shape))
    parts = []
    for _ in range(draw.integer(2, 3)):
        shape[axis] = draw.integer(1, 3)
        parts.append(sparse(draw, dtype, shape, ("indices", "values", "shapes")))
    count = range(len(parts))
    fixed = (*(f"indices_{index}" for index in count), *(f"shapes_{index}" for index in count))
    return Node({name: [part[name] for part in parts] for name in ("indices", "values", "shapes")}, {"concat_dim": axis}, fixed=fixed)


@recipe("SparseSlice")
def sliced(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 3)
    start = [draw.integer(0, size - 1) for size in shape]
    limits = {"start": np.array(start, np.int64), "size": np.array([draw.integer(1, size) for size in shape], np.int64)}
    operands = sparse(draw, dtype, shape, ("indices", "values", "shape"))
    return Node({**operands, **limits}, {}, ("shape", "start", "size"), fixed=("indices",))
