"""Lists of tensors of TensorFlow, drawn: an operation between one that makes a list and one that looks at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import Node, recipe

raw = tf.raw_ops


Further = Callable[[Draw, Array], dict[str, Array]]
"""Draws the operands of an operation that are neither the list nor its data."""


def no_more(_draw: Draw, _data: Array) -> dict[str, Array]:
    """No further operands."""
    return {}


def number(draw: Draw, low: int, high: int) -> Array:
    """An index or a size."""
    return np.array(draw.integer(low, high), np.int32)


def shape_of_rows(data: Any) -> Any:
    """The shape of an element of a list, as a constant where it is known."""
    if data.shape.rank is None:
        return tf.shape(data)[1:]
    return tf.constant([-1 if size is None else size for size in data.shape[1:]], tf.int32)


def of_rows(data: Any) -> Any:
    """The list of the rows of some data."""
    return raw.TensorListFromTensor(tensor=data, element_shape=shape_of_rows(data))


def stacked(handle: Any, data: Any) -> Any:
    """The elements of a list as one tensor."""
    return raw.TensorListStack(input_handle=handle, element_shape=shape_of_rows(data), element_dtype=data.dtype)


def lists(kinds: str, least: int = 1, further: Further = no_more) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function of data, the list of its rows and further operands. The data has at least a rank."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        def draws(draw: Draw, dtype: np.dtype[Any]) -> Node:
            data = draw.array(dtype, draw.filled(least, 3), special=0.0)
            operands = further(draw, data)
            return Node({"data": data, **operands}, {}, tuple(operands), None, lambda data, **rest: function(data, of_rows(data), **rest))

        recipe(kinds, "element_dtype")(draws)
        return function

    return register


def an_index(draw: Draw, data: Array) -> dict[str, Array]:
    return {"index": number(draw, 0, len(data) - 1)}


def an_item(draw: Draw, data: Array) -> dict[str, Array]:
    return {"item": draw.array(data.dtype, data.shape[1:], special=0.0)}


@lists("TensorListStack TensorListFromTensor")
def stack(data: Any, handle: Any) -> Any:
    return stacked(handle, data)


@lists("TensorListLength")
def length(_data: Any, handle: Any) -> Any:
    return raw.TensorListLength(input_handle=handle)


@lists("TensorListElementShape")
def element_shape(data: Any, handle: Any) -> Any:
    # A list that is made of another shape, or of less of it, has that one.
    handle = raw.TensorListFromTensor(tensor=stacked(handle, data), element_shape=tf.shape(data)[1:])
    return raw.TensorListElementShape(input_handle=handle, shape_type=tf.int32)


@lists("TensorListGetItem", further=an_index)
def get(data: Any, handle: Any, index: Any) -> Any:
    return raw.TensorListGetItem(input_handle=handle, index=index, element_shape=shape_of_rows(data), element_dtype=data.dtype)


@lists("TensorListGather", further=lambda draw, data: {"indices": draw.between(np.int32, draw.filled(1, 1), 0, len(data) - 1)})
def gather(data: Any, handle: Any, indices: Any) -> Any:
    return raw.TensorListGather(input_handle=handle, indices=indices, element_shape=shape_of_rows(data), element_dtype=data.dtype)


@lists("TensorListSetItem", further=lambda draw, data: an_index(draw, data) | an_item(draw, data))
def put(data: Any, handle: Any, index: Any, item: Any) -> Any:
    return stacked(raw.TensorListSetItem(input_handle=handle, index=index, item=item), data)


@lists("TensorListPushBack", further=an_item)
def push(data: Any, handle: Any, item: Any) -> Any:
    return stacked(raw.TensorListPushBack(input_handle=handle, tensor=item), data)


@lists("TensorListPopBack")
def pop(data: Any, handle: Any) -> Any:
    rest, last = raw.TensorListPopBack(input_handle=handle, element_shape=shape_of_rows(data), element_dtype=data.dtype)
    return [last, raw.TensorListLength(input_handle=rest)]


@lists("TensorListResize", further=lambda draw, data: {"size": number(draw, 0, len(data) + 2)})
def resize(data: Any, handle: Any, size: Any) -> Any:
    return stacked(raw.TensorListResize(input_handle=handle, size=size), data)


@lists(
    "TensorListConcatLists",
    further=lambda draw, data: {"other": draw.array(data.dtype, [draw.integer(1, 3), *data.shape[1:]], special=0.0)},
)
def concatenate(data: Any, handle: Any, other: Any) -> Any:
    return stacked(raw.TensorListConcatLists(input_a=handle, input_b=of_rows(other), element_dtype=data.dtype), data)


@lists(
    "TensorListScatterIntoExistingList",
    further=lambda draw, data: {
        "index": number(draw, 0, len(data) - 1).reshape(1),
        "item": draw.array(data.dtype, [1, *data.shape[1:]], special=0.0),
    },
)
def scatter_into(data: Any, handle: Any, index: Any, item: Any) -> Any:
    return stacked(raw.TensorListScatterIntoExistingList(input_handle=handle, tensor=item, indices=index), data)


@lists("TensorListConcat", least=2)
def join(data: Any, handle: Any) -> Any:
    shape = data.shape[1:] if data.shape.rank else None
    return raw.TensorListConcat(input_handle=handle, element_dtype=data.dtype, element_shape=shape)


@lists("TensorListConcatV2", least=2)
def join_to_shape(data: Any, handle: Any) -> Any:
    return raw.TensorListConcatV2(
        input_handle=handle, element_shape=shape_of_rows(data), leading_dims=tf.zeros([0], tf.int64), element_dtype=data.dtype
    )


@recipe("TensorListReserve", "element_dtype")
def reserved(draw: Draw, dtype: np.dtype[Any]) -> Node:
    item, count = draw.array(dtype, draw.filled(0, 2), special=0.0), draw.integer(1, 4)

    def build(item: Any, count: Any, index: Any) -> Any:
        shape = tf.constant(list(shape_of_item), tf.int32)
        handle = raw.TensorListReserve(element_shape=shape, num_elements=count, element_dtype=item.dtype)
        return raw.TensorListStack(
            input_handle=raw.TensorListSetItem(input_handle=handle, index=index, item=item), element_shape=shape, element_dtype=item.dtype
        )

    shape_of_item = item.shape
    return Node(
        {"item": item, "count": np.array(count, np.int32), "index": number(draw, 0, count - 1)}, {}, ("count", "index"), None, build
    )


@recipe("EmptyTensorList", "element_dtype")
def emptied(draw: Draw, dtype: np.dtype[Any]) -> Node:
    items = [draw.array(dtype, shape, special=0.0) for shape in [draw.filled(0, 2)] * draw.integer(1, 3)]

    def build(items: Any) -> Any:
        shape = tf.constant(list(shape_of_item), tf.int32)
        handle = raw.EmptyTensorList(element_shape=shape, max_num_elements=-1, element_dtype=items[0].dtype)
        for item in items:
            handle = raw.TensorListPushBack(input_handle=handle, tensor=item)
        return raw.TensorListStack(input_handle=handle, element_shape=shape, element_dtype=items[0].dtype)

    shape_of_item = items[0].shape
    return Node({"items": items}, {}, (), None, build)


@recipe("TensorListScatter TensorListScatterV2", "element_dtype")
def scattered(draw: Draw, dtype: np.dtype[Any]) -> Node:
    data = draw.array(dtype, draw.filled(1, 3), special=0.0)

    def build(data: Any, indices: Any) -> Any:
        return stacked(raw.TensorListScatter(tensor=data, indices=indices, element_shape=shape_of_rows(data)), data)

    return Node({"data": data, "indices": np.array(draw.permutation(len(data)), np.int32)}, {}, ("indices",), None, build)


@recipe("TensorListScatterV2", "element_dtype")
def scattered_to_length(draw: Draw, dtype: np.dtype[Any]) -> Node:
    node = scattered(draw, dtype)

    def build(data: Any, indices: Any, count: Any) -> Any:
        handle = raw.TensorListScatterV2(tensor=data, indices=indices, element_shape=shape_of_rows(data), num_elements=count)
        return stacked(handle, data)

    count = len(np.asarray(node.operands["data"])) + draw.integer(0, 2)
    return Node({**node.operands, "count": np.array(count, np.int32)}, {}, ("indices", "count"), None, build)


@recipe("TensorListSplit", "element_dtype")
def split(draw: Draw, dtype: np.dtype[Any]) -> Node:
    count = draw.integer(1, 3)
    sizes = [draw.integer(1, 3)] * count if draw.chance(0.8) else draw.integers(count, 1, 3)
    data = draw.array(dtype, [sum(sizes), *draw.filled(0, 2)], special=0.0)
    place = draw.integer(0, len(sizes) - 1)

    def build(data: Any, lengths: Any) -> Any:
        shape = tf.concat([[-1], shape_of_rows(data)], 0)
        handle = raw.TensorListSplit(tensor=data, element_shape=shape, lengths=lengths)
        return raw.TensorListGetItem(input_handle=handle, index=place, element_shape=shape, element_dtype=data.dtype)

    return Node({"data": data, "lengths": np.array(sizes, np.int64)}, {}, ("lengths",), None, build)
