"""Functions of `tf` that move, choose and create elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si64, to_numpy
from moir.dialects.shapes import element_of
from moir.lowering.keras.tensorflow.calls import Call, Tensor, function


@function("cast", "dtypes.cast")
def cast_to(call: Call, x: Tensor, dtype: object) -> SSAValue:
    """tf.cast: tf.Cast"""
    return call.raw("Cast", call.tensor(x), DstT=call.element(dtype))


@function("identity", "stop_gradient", "math.real", "math.conj", "grad_pass_through", "guarantee_const")
def identity(call: Call, input: Tensor) -> SSAValue:
    """tf.identity: the tensor; no tensor in a file of Keras is complex"""
    return call.tensor(input)


@function("ensure_shape")
def ensure_shape(call: Call, x: Tensor, shape: object) -> SSAValue:
    """tf.ensure_shape: the tensor"""
    del shape
    return call.tensor(x)


@function("shape")
def shape(call: Call, input: Tensor, out_type: object = "int32") -> SSAValue:
    """tf.shape: tf.Shape"""
    return call.raw("Shape", call.tensor(input), out_type=call.element(out_type))


@function("size")
def size(call: Call, input: Tensor, out_type: object = "int32") -> SSAValue:
    """tf.size: tf.Size"""
    return call.raw("Size", call.tensor(input), out_type=call.element(out_type))


@function("reshape")
def reshape(call: Call, tensor: Tensor, shape: Tensor) -> SSAValue:
    """tf.reshape: tf.Reshape"""
    return call.raw("Reshape", call.tensor(tensor), call.integers(shape))


@function("expand_dims")
def expand_dims(call: Call, input: Tensor, axis: Tensor) -> SSAValue:
    """tf.expand_dims: tf.ExpandDims"""
    return call.raw("ExpandDims", call.tensor(input), call.integers(axis))


@function("squeeze")
def squeeze(call: Call, input: Tensor, axis: Tensor = None, squeeze_dims: Tensor = None) -> SSAValue:
    """tf.squeeze: tf.Squeeze"""
    axes = squeeze_dims if axis is None else axis
    return call.raw("Squeeze", call.tensor(input), squeeze_dims=[] if axes is None else call.numbers(axes, "axes"))


@function("transpose")
def transpose(call: Call, a: Tensor, perm: Tensor = None, conjugate: bool = False) -> SSAValue:
    """tf.transpose: tf.Transpose; the order of the dimensions is reversed by default"""
    data = call.tensor(a)
    if conjugate:
        call.fail("complex numbers are not supported in files of Keras")
    order = list(reversed(range(call.rank(data)))) if perm is None else perm
    return call.raw("Transpose", data, call.integers(order))


@function("concat")
def concat(call: Call, values: Tensor, axis: Tensor) -> SSAValue:
    """tf.concat: tf.ConcatV2"""
    return call.raw("ConcatV2", *call.alike(*_listed(values)), call.integers(axis))


@function("stack")
def stack(call: Call, values: Tensor, axis: int = 0) -> SSAValue:
    """tf.stack: tf.Pack"""
    return call.raw("Pack", *call.alike(*_listed(values)), axis=axis)


@function("unstack")
def unstack(call: Call, value: Tensor, num: int | None = None, axis: int = 0) -> list[SSAValue]:
    """tf.unstack: tf.Unpack"""
    data = call.tensor(value)
    count = call.size(data, axis) if num is None else num
    return call.results("Unpack", count, data, axis=axis, num=count)


@function("split")
def split(call: Call, value: Tensor, num_or_size_splits: Tensor, axis: Tensor = 0, num: int | None = None) -> list[SSAValue]:
    """tf.split: tf.Split into equal parts, tf.SplitV by sizes"""
    del num
    data = call.tensor(value)
    if isinstance(num_or_size_splits, int):
        return call.results("Split", num_or_size_splits, call.integers(axis), data, num_split=num_or_size_splits)
    sizes = call.numbers(num_or_size_splits, "sizes")
    return call.results("SplitV", len(sizes), data, call.integers(sizes), call.integers(axis), num_split=len(sizes))


@function("pad")
def pad(call: Call, tensor: Tensor, paddings: Tensor, mode: str = "CONSTANT", constant_values: Tensor = 0) -> SSAValue:
    """tf.pad: tf.PadV2 with a value, tf.MirrorPad"""
    data = call.tensor(tensor)
    if mode.upper() == "CONSTANT":
        return call.raw("PadV2", data, call.integers(paddings), call.tensor(constant_values, element_of(data)))
    return call.raw("MirrorPad", data, call.integers(paddings), mode=mode.upper())


@function("gather")
def gather(
    call: Call, params: Tensor, indices: Tensor, validate_indices: object = None, axis: Tensor = None, batch_dims: int = 0
) -> SSAValue:
    """tf.gather: tf.GatherV2; the axis is that after the batch by default"""
    del validate_indices
    chosen = call.integers(batch_dims if axis is None else axis)
    return call.raw("GatherV2", call.tensor(params), call.integers(indices), chosen, batch_dims=batch_dims)


@function("nn.embedding_lookup")
def embedding_lookup(call: Call, params: Tensor, ids: Tensor, max_norm: object = None) -> SSAValue:
    """tf.nn.embedding_lookup: tf.GatherV2 of rows"""
    if max_norm is not None:
        call.fail("rows of a limited norm are not supported")
    return call.raw("GatherV2", call.tensor(params), call.integers(ids), call.integers(0))


@function("where")
def where(call: Call, condition: Tensor, x: Tensor = None, y: Tensor = None) -> SSAValue:
    """tf.where: tf.SelectV2; without x and y the indices of true elements, tf.Where"""
    chosen = call.tensor(condition)
    if x is None and y is None:
        return call.raw("Where", chosen)
    return call.raw("SelectV2", chosen, *call.alike(x, y))


@function("boolean_mask")
def boolean_mask(call: Call, tensor: Tensor, mask: Tensor, axis: int | None = None) -> SSAValue:
    """tf.boolean_mask: tf.GatherNd by the indices of true elements, tf.Where"""
    if axis:
        call.fail(f"a mask of axis {axis} is not supported", "transpose the tensor so that the mask is of its first axes")
    return call.raw("GatherNd", call.tensor(tensor), call.raw("Where", call.tensor(mask)))


@function("one_hot")
def one_hot(
    call: Call,
    indices: Tensor,
    depth: Tensor,
    on_value: Tensor = None,
    off_value: Tensor = None,
    axis: int | None = None,
    dtype: object = None,
) -> SSAValue:
    """tf.one_hot: tf.OneHot"""
    element = call.element(dtype or "float32")
    on, off = call.tensor(1 if on_value is None else on_value, element), call.tensor(0 if off_value is None else off_value, element)
    return call.raw("OneHot", call.integers(indices), call.integers(depth), on, off, axis=-1 if axis is None else axis)


@function("sequence_mask")
def sequence_mask(call: Call, lengths: Tensor, maxlen: Tensor = None, dtype: object = "bool") -> SSAValue:
    """tf.sequence_mask: which numbers of a Range are less than the lengths"""
    counts = call.integers(lengths)
    element = element_of(counts)
    if maxlen is None:
        limit = call.raw("Maximum", call.reduced("Max", counts, None), call.tensor(0, element))
    else:
        limit = call.op.convert(call.tensor(maxlen, element), element)
    numbers = call.raw("Range", call.tensor(0, element), limit, call.tensor(1, element))
    return call.op.convert(call.raw("Less", numbers, call.op.Unsqueeze(counts, [-1])), call.element(dtype))


@function("zeros_like", "ones_like")
def filled_like(call: Call, input: Tensor, dtype: object = None) -> SSAValue:
    """tf.zeros_like: tf.ZerosLike, in another element type if `dtype` is given; likewise tf.ones_like"""
    data = call.tensor(input)
    kind = "ZerosLike" if call.node.text("function").endswith("zeros_like") else "OnesLike"
    return call.raw(kind, data if dtype is None else call.op.convert(data, call.element(dtype)))


@function("zeros", "ones")
def filled_with(call: Call, shape: Tensor, dtype: object = "float32") -> SSAValue:
    """tf.zeros: tf.Fill with 0; likewise tf.ones with 1"""
    value = 0 if call.node.text("function").endswith("zeros") else 1
    return call.raw("Fill", call.integers(shape), call.tensor(value, call.element(dtype)))


@function("fill")
def fill(call: Call, dims: Tensor, value: Tensor) -> SSAValue:
    """tf.fill: tf.Fill"""
    return call.raw("Fill", call.integers(dims), call.tensor(value))


@function("range")
def numbers_of_range(call: Call, start: Tensor, limit: Tensor = None, delta: Tensor = 1, dtype: object = None) -> SSAValue:
    """tf.range: tf.Range"""
    first, last = (0, start) if limit is None else (start, limit)
    if dtype is not None:
        element = call.element(dtype)
        values = [call.op.convert(call.tensor(each), element) for each in (first, last, delta)]
        return call.raw("Range", *values)
    is_real = any(isinstance(each, float) for each in (first, last, delta))
    return call.raw(
        "Range", *([call.tensor(float(each)) for each in (first, last, delta)] if is_real else call.alike_or_integers(first, last, delta))
    )


@function("repeat")
def repeat(call: Call, input: Tensor, repeats: Tensor, axis: int | None = None) -> SSAValue:
    """tf.repeat: each element a number of times, by tf.GatherV2 with an index for each"""
    data = call.tensor(input)
    if axis is None:
        data, axis = call.raw("Reshape", data, call.integers([-1])), 0
    counts = repeats if isinstance(repeats, int) else call.numbers(repeats, "repeats")
    size = call.size(data, axis)
    indices = [index for index in range(size) for _ in range(counts if isinstance(counts, int) else counts[index % len(counts)])]
    return call.raw("GatherV2", data, call.integers(indices), call.integers(axis))


@function("strided_slice")
def strided_slice(
    call: Call,
    input_: Tensor,
    begin: Tensor,
    end: Tensor,
    strides: Tensor = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> SSAValue:
    """tf.strided_slice: tf.StridedSlice"""
    bounds = [call.integers(each) for each in (begin, end)]
    steps = call.integers([1] * call.size(bounds[0], 0) if strides is None else strides)
    masks = {"begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask}
    masks |= {"new_axis_mask": new_axis_mask, "shrink_axis_mask": shrink_axis_mask}
    return call.raw("StridedSlice", call.tensor(input_), *bounds, steps, **masks)


@function("argsort")
def argsort(call: Call, values: Tensor, axis: int = -1, direction: str = "ASCENDING", stable: bool = False) -> SSAValue:
    """tf.argsort: the indices of tf.TopKV2 over the last axis"""
    del stable
    return _ordered(call, values, axis, direction)[1]


@function("sort")
def sort(call: Call, values: Tensor, axis: int = -1, direction: str = "ASCENDING") -> SSAValue:
    """tf.sort: the values of tf.TopKV2 over the last axis"""
    return _ordered(call, values, axis, direction)[0]


def _ordered(call: Call, values: Tensor, axis: int, direction: str) -> list[SSAValue]:
    """The values sorted along an axis in a direction, ASCENDING or not, and their indices."""
    data = call.tensor(values)
    (last,) = call.axes(axis, data)
    rank = call.rank(data)
    order = [each for each in range(rank) if each != last] + [last]
    moved = call.op.Transpose(data, order)
    count = call.raw("StridedSlice", call.raw("Shape", moved), *map(call.integers, ([-1], [0], [1])), end_mask=1, shrink_axis_mask=1)
    moved = call.raw("Neg", moved) if direction == "ASCENDING" else moved
    sorted_values, indices = call.results("TopKV2", 2, moved, count, sorted=True)
    sorted_values = call.raw("Neg", sorted_values) if direction == "ASCENDING" else sorted_values
    back = [order.index(each) for each in range(rank)]
    return [call.op.Transpose(each, back) for each in (sorted_values, indices)]


@function("math.top_k")
def top_k(call: Call, input: Tensor, k: Tensor = 1, sorted: bool = True, index_type: object = "int32") -> list[SSAValue]:
    """tf.math.top_k: tf.TopKV2"""
    values, indices = call.results("TopKV2", 2, call.tensor(input), call.integers(k), sorted=sorted)
    return [values, call.op.convert(indices, call.element(index_type))]


@function("math.argmax", "math.argmin")
def index_of_extreme(call: Call, input: Tensor, axis: Tensor = None, output_type: object = "int64", dimension: Tensor = None) -> SSAValue:
    """tf.math.argmax: tf.ArgMax, of the first axis by default; likewise tf.math.argmin"""
    chosen = dimension if axis is None else axis
    kind = "ArgMax" if call.node.text("function").endswith("argmax") else "ArgMin"
    return call.raw(kind, call.tensor(input), call.integers(0 if chosen is None else chosen), output_type=call.element(output_type))


@function("searchsorted")
def searchsorted(call: Call, sorted_sequence: Tensor, values: Tensor, side: str = "left", out_type: object = "int32") -> SSAValue:
    """tf.searchsorted: tf.LowerBound or tf.UpperBound of rows"""
    rows, wanted = call.alike(sorted_sequence, values)
    shape = call.raw("Shape", wanted)
    matrices = [
        call.op.Reshape(
            each, call.op.Concat(call.op.constant([-1]), call.op.convert(_last_size(call, each), si64), axis=0), special_zero=False
        )
        for each in (rows, wanted)
    ]
    kind = "LowerBound" if side == "left" else "UpperBound"
    return call.raw("Reshape", call.raw(kind, *matrices, out_type=call.element(out_type)), shape)


def _last_size(call: Call, value: SSAValue) -> SSAValue:
    """The size of the last dimension of a tensor, as a 1-D tensor of one element."""
    return call.raw("StridedSlice", call.raw("Shape", value), *map(call.integers, ([-1], [0], [1])), end_mask=1)


@function("unravel_index")
def unravel_index(call: Call, indices: Tensor, dims: Tensor) -> SSAValue:
    """tf.unravel_index: tf.UnravelIndex"""
    return call.raw("UnravelIndex", *call.alike_or_integers(indices, dims))


@function("linspace")
def linspace(call: Call, start: Tensor, stop: Tensor, num: Tensor, axis: int = 0) -> SSAValue:
    """tf.linspace: tf.LinSpace of numbers"""
    if axis:
        call.fail("numbers between tensors are not supported")
    return call.raw("LinSpace", *call.alike(start, stop), call.integers(num))


@function("eye")
def eye(call: Call, num_rows: Tensor, num_columns: int | None = None, batch_shape: Tensor = None, dtype: object = "float32") -> SSAValue:
    """tf.eye: a constant"""
    if not isinstance(num_rows, int) or batch_shape is not None:
        call.fail("a matrix of a computed size is not supported")
    columns = num_rows if num_columns is None else num_columns
    return call.tensor([[float(row == column) for column in range(columns)] for row in range(num_rows)], call.element(dtype))


@function("meshgrid")
def meshgrid(call: Call, *args: Tensor, indexing: str = "xy") -> Sequence[SSAValue]:
    """tf.meshgrid: each 1-D tensor along an axis of its own, broadcast to the shape of all; `xy` swaps the first two
    axes
    """
    values = [call.tensor(each) for each in args]
    order = [1, 0, *range(2, len(values))] if indexing == "xy" and len(values) > 1 else list(range(len(values)))
    sizes: list[SSAValue] = [call.raw("Shape", values[each]) for each in order]
    shape = call.op.Concat(*sizes, axis=0)
    return [
        call.raw("BroadcastTo", call.op.Unsqueeze(each, [axis for axis in range(len(values)) if axis != order.index(index)]), shape)
        for index, each in enumerate(values)
    ]


@function("clip_by_value")
def clip_by_value(call: Call, t: Tensor, clip_value_min: Tensor, clip_value_max: Tensor) -> SSAValue:
    """tf.clip_by_value: tf.Maximum(tf.Minimum(t, max), min)"""
    data, low, high = call.alike(t, clip_value_min, clip_value_max)
    return call.raw("Maximum", call.raw("Minimum", data, high), low)


@function("dtypes.saturate_cast")
def saturate_cast(call: Call, value: Tensor, dtype: object) -> SSAValue:
    """tf.saturate_cast: tf.Cast of the values within the range of the element type"""
    data, element = call.tensor(value), call.element(dtype)
    own, wanted = to_numpy(element_of(data)), to_numpy(element)
    if wanted.kind in "iu":
        low, high = np.iinfo(wanted).min, np.iinfo(wanted).max
        if own.kind in "iu":
            low, high = max(low, np.iinfo(own).min), min(high, np.iinfo(own).max)
        elif float(np.array(high, own)) > high:
            high = int(np.nextafter(np.array(high, own), np.array(0, own)))
        data = call.raw("Maximum", call.raw("Minimum", data, call.number_like(high, data)), call.number_like(low, data))
    return call.raw("Cast", data, DstT=element)


def _listed(values: Any) -> list[Any]:
    """The elements of an argument that is a list; for any other argument a list with it as the only element."""
    return cast("list[Any]", values) if isinstance(values, list) else [values]


@function("math.add_n", "math.accumulate_n")
def add_n(call: Call, inputs: Tensor, shape: object = None, tensor_dtype: object = None) -> SSAValue:
    """tf.add_n: tf.AddN"""
    del shape, tensor_dtype
    return call.raw("AddN", *call.alike(*_listed(inputs)))
