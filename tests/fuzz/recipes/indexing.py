"""Gather, scatter and selections."""

from __future__ import annotations

from math import prod

import numpy as np

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.signature import Signature, Values, recipe


def index_type(draw: Draw, signature: Signature) -> type:
    """The element type of indices."""
    dtype = draw.one_of((np.int64, np.int32)) if signature.inputs["indices"].type_str in signature.types else np.int64
    signature.use("indices", dtype)
    return dtype


@recipe("Gather")
def gather(draw: Draw, signature: Signature) -> Values:
    shape, indices = draw.shape(1, 4), draw.shape(0, 3)
    axis = draw.axis(len(shape))
    low = -shape[axis] if signature.version >= 11 else 0
    result = draw.between(index_type(draw, signature), indices, low, shape[axis] - 1)
    return {"data": draw.array(signature.dtype("data"), shape), "indices": result, "axis": axis if axis != 0 or draw.chance(0.5) else None}


def along(draw: Draw, signature: Signature) -> tuple[list[int], np.ndarray, int]:
    """The shape of the data, indices along an axis whose other sizes are at most those of the data, and the axis."""
    shape = draw.shape(1, 4)
    axis = draw.axis(len(shape))
    place = axis % len(shape)
    sizes = [
        draw.size() if each == place else draw.integer(min(1, size), size) if draw.chance(0.4) else size for each, size in enumerate(shape)
    ]
    low = -shape[axis] if signature.version >= 11 else 0
    return shape, draw.between(index_type(draw, signature), sizes, low, shape[axis] - 1), axis


@recipe("GatherElements")
def gather_elements(draw: Draw, signature: Signature) -> Values:
    shape, indices, axis = along(draw, signature)
    return {"data": draw.array(signature.dtype("data"), shape), "indices": indices, "axis": axis if axis else None}


@recipe("Scatter", "ScatterElements")
def scatter_elements(draw: Draw, signature: Signature) -> Values:
    shape, indices, axis = along(draw, signature)
    reduction = draw.one_of(("none", "add", "mul", "max", "min") if signature.version >= 18 else ("none", "add", "mul"))
    place = axis % len(shape)
    if reduction == "none":
        # Two updates of one element are undefined.
        size = min(shape[place], indices.shape[place])
        lines = [
            np.array(draw.permutation(shape[place])[:size], indices.dtype)
            for _ in range(prod(indices.shape) // max(1, indices.shape[place]))
        ]
        moved = [each for number, each in enumerate(indices.shape) if number != place] + [size]
        stacked = np.stack(lines) if lines else np.zeros((0, size), indices.dtype)
        indices = np.ascontiguousarray(np.moveaxis(stacked.reshape(moved), -1, place))
    dtype = signature.dtype("data")
    return {
        "data": draw.array(dtype, shape),
        "indices": indices,
        "updates": draw.array(dtype, indices.shape),
        "axis": axis if axis else None,
        "reduction": reduction,
    }


@recipe("GatherND", "ScatterND")
def gather_nd(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1, 4)
    scatter = signature.name == "ScatterND"
    batch = 0 if scatter or not signature.takes("batch_dims") else draw.integer(0, min(2, len(shape) - 1))
    depth = draw.integer(1, len(shape) - batch)
    outer = shape[:batch] + draw.shape(0, 2)
    columns = [draw.between(np.int64, outer, -size, size - 1) for size in shape[batch : batch + depth]]
    indices = np.stack(columns, -1).astype(np.int64)
    dtype = signature.dtype("data")
    data = draw.array(dtype, shape)
    if not scatter:
        return {"data": data, "indices": indices, "batch_dims": batch}
    reduction = draw.one_of(("none", "add", "mul", "max", "min") if signature.version >= 18 else ("none", "add", "mul"))
    if reduction == "none" or signature.version < 16:
        rows = np.unique(indices.reshape(-1, depth) % np.array(shape[:depth]), axis=0)
        indices = rows[draw.permutation(len(rows))].astype(np.int64)
    return {"data": data, "indices": indices, "updates": draw.array(dtype, [*indices.shape[:-1], *shape[depth:]]), "reduction": reduction}


@recipe("TensorScatter")
def tensor_scatter(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(2, 4)
    axis = draw.integer(1, len(shape) - 1)
    update = list(shape)
    update[axis] = draw.integer(1, shape[axis])
    mode = draw.one_of(("linear", "circular"))
    last = shape[axis] - 1 if mode == "circular" else shape[axis] - update[axis]
    dtype = signature.dtype()
    return {
        "past_cache": draw.array(dtype, shape),
        "update": draw.array(dtype, update),
        "axis": axis,
        "mode": mode,
        "write_indices": draw.between(np.int64, shape[:1], 0, last),
    }


@recipe("Compress")
def compress(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1, 4)
    axis = draw.axis(len(shape)) if draw.chance(0.6) else None
    length = prod(shape) if axis is None else shape[axis]
    condition = draw.random.random(draw.integer(1, length) if draw.chance(0.3) else length) < draw.one_of((0.5, 0.5, 0.0, 1.0))
    return {"input": draw.array(signature.dtype("input"), shape), "condition": condition, "axis": axis}


@recipe("OneHot")
def one_hot(draw: Draw, signature: Signature) -> Values:
    shape = draw.shape(0, 3)
    depth = draw.integer(1, 5)
    index, size = signature.dtype("indices"), signature.dtype("depth")
    low = -depth - 1 if index.kind != "u" and signature.version >= 11 else 0
    return {
        "indices": draw.between(index, shape, low, depth + (0 if index.kind == "b" else 1)),
        "depth": np.array(depth if draw.chance(0.7) else [depth]).astype(size),
        "values": draw.array(signature.dtype("values"), [2], special=0),
        "axis": draw.integer(-len(shape) - 1, len(shape)),
    }


@recipe("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss")
def loss(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(2, 4)
    first, second, third = list(signature.inputs)[:3]
    dtype = signature.dtype(first)
    if dtype.kind in "iu":
        raise NoCase("no loss of integers")
    labels = draw.between(signature.dtype(second), [shape[0], *shape[2:]], 0, shape[1] - 1)
    ignored = draw.integer(0, shape[1] - 1) if draw.chance(0.3) else -1 if draw.chance(0.2) else None
    if ignored == -1:
        labels = np.where(draw.random.random(labels.shape) < 0.3, np.array(-1, labels.dtype), labels)
    return {first: draw.array(dtype, shape, special=0), second: labels, third: draw.positive(dtype, shape[1:2]), "ignore_index": ignored}
