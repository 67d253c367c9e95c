"""Movement of TensorFlow, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw, NoCase
from tests.fuzz.tensorflow.recipe import Node, index_type, recipe


@recipe("Reshape")
def reshape(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape())
    shape = list(draw.one_of(([*data.shape[::-1]], [-1], [*data.shape, 1], [1, *data.shape])))
    if -1 not in shape and draw.chance(0.4) and shape and 0 not in data.shape:
        shape[draw.integer(0, len(shape) - 1)] = -1
    return Node({"tensor": data, "shape": np.array(shape, index_type(draw))}, {}, ("shape",))


@recipe("Transpose ConjugateTranspose")
def transposition(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape())
    return Node({"x": data, "perm": np.array(draw.permutation(data.ndim), index_type(draw))}, {}, ("perm",))


@recipe("ExpandDims")
def expansion(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(0, 4))
    return Node({"input": data, "axis": np.array(draw.integer(-data.ndim - 1, data.ndim), index_type(draw))}, {}, ("axis",))


@recipe("Squeeze")
def squeeze(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, [1 if draw.chance(0.4) else size for size in draw.shape()])
    ones = [axis for axis, size in enumerate(data.shape) if size == 1]
    axes = [axis - data.ndim * draw.chance(0.3) for axis in ones if draw.chance(0.6)]
    return Node({"input": data}, {"axis": axes})


@recipe("ConcatV2")
def concatenation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape(1)
    axis = draw.axis(len(shape))
    values = []
    for _ in range(draw.integer(2, 4)):
        size = list(shape)
        size[axis] = draw.size()
        values.append(draw.array(dtype, size))
    return Node({"values": values, "axis": np.array(axis, index_type(draw))}, {}, ("axis",))


@recipe("Concat")
def old_concatenation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = concatenation(draw, dtype)
    values = node.operands["values"]
    axis = np.asarray(node.operands["axis"]).astype(np.int32) % values[0].ndim
    return Node({"concat_dim": axis, "values": values}, {}, ("concat_dim",))


@recipe("Pack")
def pack(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape(0, 4)
    count = draw.integer(1, 3)
    return Node({"values": [draw.array(dtype, shape) for _ in range(count)]}, {"axis": draw.integer(-len(shape) - 1, len(shape))})


@recipe("Unpack")
def unpack(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    axis = draw.axis(data.ndim)
    return Node({"value": data}, {"num": data.shape[axis], "axis": axis})


@recipe("Split")
def split(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 4)
    axis, count = draw.axis(len(shape)), draw.integer(1, 3)
    shape[axis] *= count
    return Node({"axis": np.array(axis, np.int32), "value": draw.array(dtype, shape)}, {"num_split": count}, ("axis",))


@recipe("SplitV")
def split_sizes(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.filled(1, 4)
    axis, sizes = draw.axis(len(shape)), draw.integers(draw.integer(1, 3), 0, 3)
    shape[axis] = sum(sizes)
    if draw.chance(0.3):
        sizes[-1] = -1
    return Node(
        {"value": draw.array(dtype, shape), "size_splits": np.array(sizes, index_type(draw)), "axis": np.array(axis, np.int32)},
        {"num_split": len(sizes)},
        ("size_splits", "axis"),
    )


@recipe("Tile")
def tile(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(0, 4))
    return Node({"input": data, "multiples": np.array(draw.integers(data.ndim, 0, 3), index_type(draw))}, {}, ("multiples",))


@recipe("BroadcastTo")
def broadcast(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"input": draw.array(dtype, draw.broadcasts_to(shape)), "shape": np.array(shape, index_type(draw))}, {}, ("shape",))


@recipe("Fill")
def fill(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"dims": np.array(draw.shape(), index_type(draw)), "value": draw.array(dtype, [])}, {}, ("dims",))


@recipe("Pad PadV2")
def pad(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(0, 4))
    widths = np.array([draw.integers(2, 0, 2) for _ in range(data.ndim)], index_type(draw)).reshape(-1, 2)
    return Node({"input": data, "paddings": widths}, {}, ("paddings",))


@recipe("PadV2")
def pad_with(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pad(draw, dtype)
    return Node({**node.operands, "constant_values": draw.array(dtype, [])}, {}, ("paddings",))


@recipe("MirrorPad")
def mirror(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, mode = draw.array(dtype, draw.filled(1, 4)), draw.one_of(("REFLECT", "SYMMETRIC"))
    widths = [draw.integers(2, 0, size - (mode == "REFLECT")) for size in data.shape]
    return Node({"input": data, "paddings": np.array(widths, index_type(draw))}, {"mode": mode}, ("paddings",))


@recipe("ReverseV2")
def reversal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(0, 4))
    return Node({"tensor": data, "axis": np.array(draw.axes(data.ndim), index_type(draw))}, {}, ("axis",))


@recipe("Reverse")
def reversal_by_flags(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    return Node({"tensor": data, "dims": draw.array(np.dtype(bool), [data.ndim])}, {}, ("dims",))


@recipe("ReverseSequence")
def reversal_of_rows(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 4))
    batch, axis = draw.permutation(data.ndim)[:2]
    lengths = draw.between(index_type(draw), [data.shape[batch]], 0, data.shape[axis])
    return Node({"input": data, "seq_lengths": lengths}, {"seq_dim": axis, "batch_dim": batch})


@recipe("Roll")
def roll(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    axes = draw.axes(data.ndim, 1)
    return Node(
        {"input": data, "shift": np.array(draw.integers(len(axes), -5, 5), np.int32), "axis": np.array(axes, np.int32)},
        {},
        ("shift", "axis"),
    )


@recipe("SpaceToDepth DepthToSpace")
def depth(draw: Draw, dtype: np.dtype[Any]) -> Node:
    block = draw.integer(2, 3)
    batch, height, width, channels = draw.integers(4, 1, 3)
    layout = "NHWC"
    return Node(
        {"input": draw.array(dtype, [batch, height * block, width * block, channels * block * block])},
        {"block_size": block, "data_format": layout},
    )


@recipe("SpaceToBatchND")
def space_to_batch(draw: Draw, dtype: np.dtype[Any]) -> Node:
    count = draw.integer(1, 3)
    blocks, pads = draw.integers(count, 1, 3), [draw.integers(2, 0, 2) for _ in range(count)]
    sizes = [block * draw.integer(1, 3) for block in blocks]
    shape = [size - sum(pad) for size, pad in zip(sizes, pads, strict=True)]
    if min(shape) < 1:
        raise NoCase("nothing is left")
    data = draw.array(dtype, [draw.integer(1, 2), *shape, *draw.filled(0, 2)])
    return Node(
        {"input": data, "block_shape": np.array(blocks, np.int32), "paddings": np.array(pads, np.int32)}, {}, ("block_shape", "paddings")
    )


@recipe("BatchToSpaceND")
def batch_to_space(draw: Draw, dtype: np.dtype[Any]) -> Node:
    count = draw.integer(1, 3)
    blocks = draw.integers(count, 1, 3)
    shape = draw.integers(count, 1, 3)
    crops = [[draw.integer(0, (size * block - 1) // 2) for _ in range(2)] for size, block in zip(shape, blocks, strict=True)]
    data = draw.array(dtype, [int(np.prod(blocks)) * draw.integer(1, 2), *shape, *draw.filled(0, 2)])
    return Node(
        {"input": data, "block_shape": np.array(blocks, np.int32), "crops": np.array(crops, np.int32)}, {}, ("block_shape", "crops")
    )


@recipe("SpaceToBatch")
def space_to_batch_of_images(draw: Draw, dtype: np.dtype[Any]) -> Node:
    block = draw.integer(2, 3)
    shape = draw.integers(2, 1, 5)
    pads = [[first := draw.integer(0, 2), -(size + first) % block] for size in shape]
    data = draw.array(dtype, [draw.integer(1, 2), *shape, draw.integer(1, 3)])
    return Node({"input": data, "paddings": np.array(pads, index_type(draw))}, {"block_size": block}, ("paddings",))


@recipe("BatchToSpace")
def batch_to_space_of_images(draw: Draw, dtype: np.dtype[Any]) -> Node:
    block = draw.integer(2, 3)
    crops = np.array([draw.integers(2, 0, (block - 1) // 2) for _ in range(2)], index_type(draw))
    data = draw.array(dtype, [block * block * draw.integer(1, 2), *draw.integers(2, 2, 4), draw.integer(1, 3)])
    return Node({"input": data, "crops": crops}, {"block_size": block}, ("crops",))


@recipe("ParallelConcat")
def parallel_concatenation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows, rest = draw.integers(draw.integer(1, 4), 1, 1), draw.filled(0, 3)
    values = [draw.array(dtype, [1, *rest]) for _ in rows]
    return Node({"values": values}, {"shape": [len(rows), *rest]}, fixed=tuple(f"values_{index}" for index in range(len(rows))))


@recipe("ConcatOffset", "shape_type")
def offsets(draw: Draw, dtype: np.dtype[Any]) -> Node:
    sizes = draw.array(dtype, draw.filled(1, 1), special=0.0)
    axis = draw.axis(len(sizes))
    parts = [sizes.copy() for _ in range(draw.integer(1, 4))]
    for part in parts:
        part[axis] = draw.integer(0, 5)
    operands = {"concat_dim": np.array(axis, np.int32), "shape": parts}
    return Node(operands, {}, ("concat_dim",) if draw.chance(0.5) else ())


FORMATS = (("NHWC", "NCHW"), ("NCHW", "NHWC"), ("NDHWC", "NCDHW"), ("NHWC", "HWNC"))


@recipe("DataFormatDimMap")
def axes_of_another_format(draw: Draw, dtype: np.dtype[Any]) -> Node:
    source, target = draw.one_of(FORMATS)
    axes = draw.between(dtype, draw.filled(0, 2), -len(source), len(source) - 1)
    return Node({"x": axes}, {"src_format": source, "dst_format": target})


@recipe("DataFormatVecPermute")
def sizes_of_another_format(draw: Draw, dtype: np.dtype[Any]) -> Node:
    source, target = draw.one_of(FORMATS)
    shape = [len(source) - draw.one_of((0, 2)), *draw.one_of(([], [2]))]
    return Node({"x": draw.array(dtype, shape, special=0.0)}, {"src_format": source, "dst_format": target}, fixed=("x",))
