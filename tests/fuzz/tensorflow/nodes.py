"""Single operations of `tf.raw_ops`, with random attributes, element types and shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.tensorflow.graph_model import graph_case


@dataclass
class Node:
    """Operands and attributes of a node.

    Args:
        operands: by the names that `tf.raw_ops` gives them; a list is an operand of several tensors.
        attributes: all others.
        structural: names of operands that say sizes or axes.
        results: how many of the results are compared; None for all.
    """

    operands: Mapping[str, Array | list[Array]]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    structural: tuple[str, ...] = ()
    results: int | None = None


Recipe = Callable[[Draw, "np.dtype[Any]"], Node]

RECIPES: dict[str, tuple[Recipe, str]] = {}
"""For each operation what draws it, and the attribute that is its element type."""

COMMON = "float32 float32 float32 float16 float64 int32 int64 uint8 int8 int16 uint16 bool"


def recipe(kinds: str, attribute: str = "T") -> Callable[[Recipe], Recipe]:
    """Registers what draws some operations."""

    def register(function: Recipe) -> Recipe:
        for kind in kinds.split():
            RECIPES[kind] = function, attribute
        return function

    return register


@cache
def element_types(kind: str, attribute: str) -> list[np.dtype[Any]]:
    """The element types for which TensorFlow has a kernel on the CPU."""
    found: set[int] = set()
    for kernel in kernels.get_registered_kernels_for_op(kind).kernel:
        if kernel.device_type != "CPU":
            continue
        constraints = [each for each in kernel.constraint if each.name == attribute]
        found |= (
            set(constraints[0].allowed_values.list.type) if constraints else {tf.as_dtype(name).as_datatype_enum for name in COMMON.split()}
        )
    names = [tf.as_dtype(number).name for number in sorted(found)]
    chosen = [name for name in [*COMMON.split(), "complex64", "uint32"] if name in names]
    return [np.dtype(name) for name in chosen]


LIMIT = 1 << 22
"""The largest integers of 32 bits that are drawn: many operations of the CPU plugin compute larger ones in f32."""


def within_limits(array: Array) -> Array:
    """The numbers of an array that the CPU plugin can represent: f64 without infinities, i32 that are exact in f32."""
    if array.dtype == np.float64:
        return np.where(np.isinf(array), np.copysign(1e6, array), array)
    if array.dtype.kind in "iu" and array.dtype.itemsize >= 4:
        return np.clip(array, max(-LIMIT, int(np.iinfo(array.dtype).min)), LIMIT)
    return array


def single_operation(draw: Draw, only: str) -> Case:
    """A graph of one operation."""
    kind = draw.subject([name for name in RECIPES if fnmatch(name, only)])
    function, attribute = RECIPES[kind]
    types = element_types(kind, attribute)
    if not types:
        raise NoCase("no kernel on the CPU")
    node = function(draw, draw.one_of(types))
    flat: dict[str, Array] = {}
    for name, value in node.operands.items():
        for index, array in enumerate(value if isinstance(value, list) else [value]):
            flat[f"{name}_{index}" if isinstance(value, list) else name] = within_limits(array)

    def build(**tensors: Any) -> Any:
        operands = {
            name: [tensors[f"{name}_{index}"] for index in range(len(value))] if isinstance(value, list) else tensors[name]
            for name, value in node.operands.items()
        }
        results = getattr(tf.raw_ops, kind)(**operands, **node.attributes)
        return results if node.results is None else list(results)[: node.results]

    renamed = {f"in_{name}": array for name, array in flat.items()}
    structural = [f"in_{name}" for name in node.structural]
    return graph_case(draw, kind, lambda **tensors: build(**{name[3:]: value for name, value in tensors.items()}), renamed, structural)


def index_type(draw: Draw) -> Any:
    return draw.one_of((np.int32, np.int64))


# Elementwise


@recipe(
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Digamma Erf Erfc Erfinv Exp Expm1 Floor Inv Invert Lgamma Log Log1p Ndtri Neg "
    "PopulationCount Reciprocal Rint Rsqrt Sigmoid Sign Sin Sinh Sqrt Square Tan Tanh IsFinite IsInf IsNan OnesLike ZerosLike "
    "BesselI0e BesselI1e"
)
def unary(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.array(dtype, draw.shape())})


@recipe("LogicalNot")
def unary_boolean(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"x": draw.array(np.dtype(bool), draw.shape())})


@recipe("Relu Relu6 Elu Selu Softplus Softsign LeakyRelu")
def activation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"features": draw.array(dtype, draw.shape())})


@recipe("Softmax LogSoftmax")
def softmax(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"logits": draw.array(dtype, draw.filled(1, 4))})


@recipe("Identity Shape Size Rank StopGradient Snapshot PreventGradient EnsureShape")
def identity(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.shape())})


RECIPES["Snapshot"] = (lambda draw, dtype: Node({"input": draw.array(dtype, draw.shape())})), "T"
del RECIPES["EnsureShape"]


@recipe("Cast", "SrcT")
def cast(draw: Draw, dtype: np.dtype[Any]) -> Node:
    target = draw.one_of(COMMON.split())
    array = draw.array(dtype, draw.shape(), special=0.0 if dtype.kind == "f" else 0.15)
    if target.startswith("uint") and dtype.kind == "f":
        array = np.abs(array)
    return Node({"x": array}, {"DstT": tf.as_dtype(target)})


@recipe(
    "Add AddV2 Sub Mul Div RealDiv Maximum Minimum Pow SquaredDifference FloorDiv FloorMod TruncateDiv TruncateMod Mod DivNoNan MulNoNan "
    "Xdivy Xlogy Xlog1py Atan2 BitwiseAnd BitwiseOr BitwiseXor LeftShift RightShift Less LessEqual Greater GreaterEqual"
)
def binary(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    x, y = draw.array(dtype, draw.broadcasts_to(shape)), draw.array(dtype, shape)
    return Node({"x": x, "y": y} if draw.chance(0.5) else {"x": y, "y": x})


@recipe("FloorDiv FloorMod TruncateDiv TruncateMod Mod Div RealDiv LeftShift RightShift Pow")
def binary_restricted(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = binary(draw, dtype)
    if dtype.kind in "iu":
        shape = np.shape(node.operands["y"])
        return Node({"x": node.operands["x"], "y": draw.positive(dtype, shape)})
    return node


@recipe("Equal NotEqual")
def equality(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return binary(draw, dtype)


@recipe("LogicalAnd LogicalOr")
def logic(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return binary(draw, np.dtype(bool))


@recipe("SelectV2")
def select(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    condition = draw.array(np.dtype(bool), draw.broadcasts_to(shape))
    return Node({"condition": condition, "t": draw.array(dtype, draw.broadcasts_to(shape)), "e": draw.array(dtype, shape)})


@recipe("AddN")
def addition(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.shape()
    return Node({"inputs": [draw.array(dtype, shape) for _ in range(draw.integer(1, 4))]})


@recipe("BiasAdd")
def bias(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 5))
    layout = draw.one_of(("NHWC", "NCHW"))
    size = data.shape[-1 if layout == "NHWC" or data.ndim == 2 else 1]
    return Node({"value": data, "bias": draw.array(dtype, [size])}, {"data_format": layout})


@recipe("ClipByValue")
def clip(draw: Draw, dtype: np.dtype[Any]) -> Node:
    low, high = sorted(draw.array(dtype, [], special=0) for _ in range(2))
    return Node({"t": draw.array(dtype, draw.shape(1)), "clip_value_min": np.asarray(low), "clip_value_max": np.asarray(high)})


# Reductions


@recipe("Sum Prod Max Min Mean EuclideanNorm")
def reduction(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(), special=0.1 if dtype.kind == "f" else 0.0)
    axes = np.array(draw.axes(data.ndim), index_type(draw))
    if len(axes) == 1 and draw.chance(0.5):
        axes = axes.reshape(())
    return Node({"input": data, "axis": axes}, {"keep_dims": draw.chance(0.5)}, ("axis",))


@recipe("All Any", "Tidx")
def logical_reduction(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return reduction(draw, np.dtype(bool))


@recipe("ArgMax ArgMin")
def position(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    return Node(
        {"input": data, "dimension": np.array(draw.axis(data.ndim), index_type(draw))},
        {"output_type": draw.one_of((tf.int32, tf.int64))},
        ("dimension",),
    )


@recipe("Cumsum Cumprod CumulativeLogsumexp")
def cumulation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.shape(1, 4), special=0.0)
    axis = np.array(draw.axis(data.ndim), index_type(draw))
    return Node({"x": data, "axis": axis}, {"exclusive": draw.chance(0.5), "reverse": draw.chance(0.5)}, ("axis",))


@recipe("SegmentSum SegmentMean SegmentProd SegmentMax SegmentMin")
def segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    return Node({"data": data, "segment_ids": np.sort(draw.between(index_type(draw), data.shape[:1], 0, 4))})


@recipe("UnsortedSegmentSum UnsortedSegmentProd UnsortedSegmentMax UnsortedSegmentMin")
def unsorted_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4), special=0.0)
    count = draw.integer(1, 5)
    ids = draw.between(index_type(draw), data.shape[: draw.integer(1, data.ndim)], -1, count - 1)
    return Node({"data": data, "segment_ids": ids, "num_segments": np.array(count, np.int32)}, {}, ("num_segments",))


@recipe("SparseSegmentSum SparseSegmentMean SparseSegmentSqrtN")
def sparse_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    count = draw.integer(1, 5)
    ids = np.sort(draw.between(np.int32, [count], 0, 3))
    return Node({"data": data, "indices": draw.between(index_type(draw), [count], 0, len(data) - 1), "segment_ids": ids})


@recipe("HistogramFixedWidth")
def histogram(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = np.round(draw.array(dtype, draw.filled(), special=0.0) * 2) / 2
    low = -2.25 if dtype.kind == "f" else 0
    return Node(
        {"values": data.astype(dtype), "value_range": np.array([low, low + 4.5], dtype), "nbins": np.array(draw.integer(1, 6), np.int32)}
    )


@recipe("Bincount")
def counts(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.between(np.int32, draw.filled(1, 2), 0, 6)
    return Node(
        {"arr": data, "size": np.array(draw.integer(1, 7), np.int32), "weights": draw.array(dtype, data.shape, special=0.0)}, {}, ("size",)
    )


# Movement


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


@recipe("Slice")
def part(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.shape(0, 4)), index_type(draw)
    begin = [draw.integer(0, size) for size in data.shape]
    size = [-1 if draw.chance(0.2) else draw.integer(0, whole - start) for whole, start in zip(data.shape, begin, strict=True)]
    return Node({"input": data, "begin": np.array(begin, index), "size": np.array(size, index)}, {}, ("begin", "size"))


@recipe("StridedSlice")
def strided(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.filled(1, 4)), index_type(draw)
    count = draw.integer(1, data.ndim)
    begin = [draw.integer(-size, size - 1) for size in data.shape[:count]]
    end = [draw.integer(-size - 1, size + 1) for size in data.shape[:count]]
    steps = [draw.one_of((1, 1, 1, 2, -1, -2)) for _ in range(count)]
    masks = {name: draw.integer(0, (1 << count) - 1) if draw.chance(0.4) else 0 for name in ("begin_mask", "end_mask", "shrink_axis_mask")}
    if draw.chance(0.15):
        masks["new_axis_mask"] = draw.integer(0, (1 << count) - 1)
    if draw.chance(0.15):
        masks["ellipsis_mask"] = 1 << draw.integer(0, count - 1)
    return Node(
        {"input": data, "begin": np.array(begin, index), "end": np.array(end, index), "strides": np.array(steps, index)},
        masks,
        ("begin", "end", "strides"),
    )


# Indexing


@recipe("GatherV2", "Tparams")
def gather(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    axis = draw.axis(data.ndim)
    shape = draw.shape(0, 2)
    batch = 0
    if axis % data.ndim and draw.chance(0.3):
        batch = 1
        shape = [data.shape[0], *shape]
    indices = draw.between(index_type(draw), shape, 0, data.shape[axis] - 1)
    return Node({"params": data, "indices": indices, "axis": np.array(axis, np.int32)}, {"batch_dims": batch}, ("axis",))


@recipe("GatherNd", "Tparams")
def gather_elements(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 4))
    depth = draw.integer(1, data.ndim)
    shape = draw.shape(0, 2)
    columns = [draw.between(np.int32, shape, 0, data.shape[axis] - 1) for axis in range(depth)]
    return Node({"params": data, "indices": np.stack(columns, -1).astype(index_type(draw))})


@recipe("ScatterNd")
def scatter(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape, index = draw.filled(1, 3), index_type(draw)
    depth, rows = draw.integer(1, len(shape)), draw.shape(1, 2)
    columns = [draw.between(index, rows, 0, shape[axis] - 1) for axis in range(depth)]
    updates = draw.array(dtype, [*rows, *shape[depth:]], special=0.0)
    return Node({"indices": np.stack(columns, -1), "updates": updates, "shape": np.array(shape, index)}, {}, ("shape",))


@recipe("TensorScatterUpdate TensorScatterAdd TensorScatterSub TensorScatterMax TensorScatterMin")
def tensor_scatter(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data, index = draw.array(dtype, draw.filled(1, 3), special=0.0), index_type(draw)
    order = draw.permutation(len(data))[: draw.integer(1, len(data))]
    return Node(
        {
            "tensor": data,
            "indices": np.array(order, index)[:, None],
            "updates": draw.array(dtype, [len(order), *data.shape[1:]], special=0.0),
        }
    )


@recipe("OneHot")
def one_hot(draw: Draw, dtype: np.dtype[Any]) -> Node:
    indices = draw.between(draw.one_of((np.int32, np.int64, np.uint8, np.int8)), draw.shape(0, 3), 0, 4)
    on, off = draw.array(dtype, []), draw.array(dtype, [])
    node = {"indices": indices, "depth": np.array(draw.integer(0, 6), np.int32), "on_value": on, "off_value": off}
    return Node(node, {"axis": draw.integer(-1, indices.ndim)}, ("depth",))


@recipe("Where")
def where(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"condition": draw.array(dtype, draw.shape(1, 4))})


@recipe("DynamicPartition")
def partition(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3))
    count = draw.integer(1, 4)
    return Node(
        {"data": data, "partitions": draw.between(np.int32, data.shape[: draw.integer(1, data.ndim)], 0, count - 1)},
        {"num_partitions": count},
    )


@recipe("TopKV2")
def top(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)
    return Node({"input": data, "k": np.array(draw.integer(0, data.shape[-1]), np.int32)}, {"sorted": True}, ("k",))


@recipe("Unique", "T")
def unique(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"x": draw.between(dtype, draw.shape(1, 1), 0, 4) if dtype.kind != "b" else draw.array(dtype, draw.shape(1, 1))})


@recipe("UnravelIndex", "Tidx")
def unravel(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = draw.integers(draw.integer(1, 3), 1, 5)
    return Node(
        {"indices": draw.between(dtype, draw.filled(0, 1), 0, int(np.prod(shape)) - 1), "dims": np.array(shape, dtype)}, {}, ("dims",)
    )


@recipe("Bucketize")
def bucketize(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.shape(), special=0.0)}, {"boundaries": sorted(draw.integers(draw.integer(0, 4), -5, 5))})


# Matrices


@recipe("MatMul")
def product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    rows, inner, columns = (draw.size() for _ in range(3))
    flags = {name: draw.chance(0.4) for name in ("transpose_a", "transpose_b")}
    a, b = ([rows, inner], [inner, columns])
    shapes = [shape[::-1] if flag else shape for shape, flag in zip((a, b), flags.values(), strict=True)]
    return Node({name: draw.array(dtype, shape, special=0.0) for name, shape in zip("ab", shapes, strict=True)}, flags)


@recipe("BatchMatMulV2")
def batch_product(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch = draw.shape(0, 2)
    rows, inner, columns = (draw.size() for _ in range(3))
    flags = {name: draw.chance(0.4) for name in ("adj_x", "adj_y")}
    shapes = [shape[::-1] if flag else shape for shape, flag in zip(([rows, inner], [inner, columns]), flags.values(), strict=True)]
    leading = (draw.broadcasts_to(batch), batch)
    return Node(
        {name: draw.array(dtype, [*front, *shape], special=0.0) for name, front, shape in zip("xy", leading, shapes, strict=True)}, flags
    )


@recipe("MatrixBandPart")
def band(draw: Draw, dtype: np.dtype[Any]) -> Node:
    index = index_type(draw)
    return Node(
        {
            "input": draw.array(dtype, draw.filled(2, 4)),
            "num_lower": np.array(draw.integer(-1, 1), index),
            "num_upper": np.array(draw.integer(-1, 1), index),
        },
        {},
        ("num_lower", "num_upper"),
    )


@recipe("MatrixDiag")
def diagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"diagonal": draw.array(dtype, draw.filled(1, 3))})


@recipe("MatrixDiagPart")
def diagonal_part(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.filled(2, 4))})


@recipe("MatrixSetDiag")
def set_diagonal(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(2, 4))
    return Node({"input": data, "diagonal": draw.array(dtype, [*data.shape[:-2], min(data.shape[-2:])])})


@recipe("Cross")
def cross(draw: Draw, dtype: np.dtype[Any]) -> Node:
    shape = [*draw.shape(0, 2), 3]
    return Node({"a": draw.array(dtype, shape, special=0.0), "b": draw.array(dtype, shape, special=0.0)})


# Images and windows


def image(draw: Draw, dtype: np.dtype[Any], channels: int | None = None) -> Array:
    return draw.array(dtype, [draw.integer(1, 2), draw.integer(1, 6), draw.integer(1, 6), channels or draw.integer(1, 3)], special=0.0)


@recipe("MaxPool AvgPool")
def pool(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    sizes = [draw.integer(1, min(3, size)) for size in data.shape[1:3]]
    return Node(
        {"input": data}, {"ksize": [1, *sizes, 1], "strides": [1, *draw.integers(2, 1, 3), 1], "padding": draw.one_of(("SAME", "VALID"))}
    )


@recipe("AvgPool")
def average(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    return Node({"value": node.operands["input"]}, node.attributes)


@recipe("MaxPoolWithArgmax")
def pool_positions(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = pool(draw, dtype)
    # Equal numbers have no one position.
    data = np.asarray(node.operands["input"])
    distinct = draw.random.permutation(data.size).reshape(data.shape).astype(dtype)
    if len(np.unique(distinct)) < data.size:
        raise NoCase("equal numbers")
    return Node({"input": distinct}, {**node.attributes, "include_batch_in_index": draw.chance(0.5)})


@recipe("Conv2D DepthwiseConv2dNative")
def convolution(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), data.shape[-1], draw.integer(1, 3)], special=0.0)
    stride = draw.integer(1, 2)
    return Node({"input": data, "filter": filters}, {"strides": [1, stride, stride, 1], "padding": draw.one_of(("SAME", "VALID"))})


@recipe("Dilation2D")
def dilation(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    filters = draw.array(dtype, [*draw.integers(2, 1, 3), data.shape[-1]], special=0.0)
    return Node(
        {"input": data, "filter": filters}, {"strides": [1, 1, 1, 1], "rates": [1, 1, 1, 1], "padding": draw.one_of(("SAME", "VALID"))}
    )


@recipe("ResizeBilinear ResizeNearestNeighbor")
def resize(draw: Draw, dtype: np.dtype[Any]) -> Node:
    half = draw.chance(0.4)
    flags = {"half_pixel_centers": half, "align_corners": not half and draw.chance(0.4)}
    return Node({"images": image(draw, dtype), "size": np.array(draw.integers(2, 1, 7), np.int32)}, flags, ("size",))


@recipe("LRN")
def local_response(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node(
        {"input": image(draw, dtype, draw.integer(1, 6))}, {"depth_radius": draw.integer(0, 3), "bias": 1.5, "alpha": 0.3, "beta": 0.7}
    )


@recipe("FusedBatchNormV3")
def batch_norm(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = image(draw, dtype)
    scale, offset, mean = (draw.array(np.dtype(np.float32), [data.shape[-1]], special=0.0) for _ in range(3))
    return Node(
        {"x": data, "scale": scale, "offset": offset, "mean": mean, "variance": draw.positive(np.float32, scale.shape)},
        {"is_training": False},
        (),
        1,
    )


@recipe("FakeQuantWithMinMaxVars", "no attribute")
def fake_quantization(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    bits = draw.integer(2, 8)
    step = 2.0 ** draw.integer(-4, 0)
    low = -draw.integer(0, 2**bits - 1) * step
    data = draw.random.integers(-(2 ** (bits + 2)), 2 ** (bits + 2), tuple(draw.shape())) * step / 4
    limits = {"min": np.array(low, np.float32), "max": np.array(low + (2**bits - 1) * step, np.float32)}
    return Node({"inputs": np.asarray(data, np.float32), **limits}, {"num_bits": bits}, ("min", "max"))


@recipe("Range", "Tidx")
def numbers(draw: Draw, dtype: np.dtype[Any]) -> Node:
    start, stop = draw.integers(2, 0, 9)
    step = draw.integer(1, 3) * (1 if stop >= start else -1)
    if dtype.kind == "u" and step < 0:
        raise NoCase("no negative steps")
    values = {name: np.array(value, dtype) for name, value in (("start", start), ("limit", stop), ("delta", step))}
    return Node(values)


@recipe("LinSpace")
def even(draw: Draw, dtype: np.dtype[Any]) -> Node:
    values = {name: np.array(draw.integer(-4, 4), dtype) for name in ("start", "stop")}
    return Node({**values, "num": np.array(draw.integer(1, 6), np.int32)}, {}, ("num",))
