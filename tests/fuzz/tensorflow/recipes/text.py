"""Strings of TensorFlow, drawn: those whose bytes are enough to compute them."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import NO_TYPE, Node, index_type, recipe

TEXTS = ("", "a", "abc", "a b  c", " x ", "Hello, World", "12", "b,c,", "äöü", "日本", "tab\tbed", "zz top")
NUMBERS = ("0", "12", "-7", "3.5", "-1.25", "1e3", "2.5e-1", " 8 ", "+4")
ENGLISH = ("", "a", "Abc", "a b  C", "Hello, World", "12Z")


def texts(draw: Draw, shape: list[int], among: tuple[str, ...] = TEXTS) -> Array:
    """Strings of a shape."""
    result = np.empty(shape, object)
    result.ravel()[:] = [draw.one_of(among) for _ in range(result.size)]
    return result


@recipe("StringLength", NO_TYPE)
def length(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.shape(0, 3))}, {"unit": draw.one_of(("BYTE", "UTF8_CHAR"))})


@recipe("StringLower StringUpper", NO_TYPE)
def letters(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.shape(0, 3), ENGLISH)})


@recipe("StringStrip", NO_TYPE)
def stripped(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.shape(0, 3))})


@recipe("StringJoin", NO_TYPE)
def joined(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    shape = draw.shape(0, 3)
    return Node({"inputs": [texts(draw, shape) for _ in range(draw.integer(1, 3))]}, {"separator": draw.one_of(("", "-", "::"))})


@recipe("ReduceJoin", NO_TYPE)
def joined_along_axes(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    data = texts(draw, draw.filled(1, 3))
    axes = np.array(draw.axes(data.ndim), np.int32)
    attributes = {"keep_dims": draw.chance(0.5), "separator": draw.one_of(("", ", "))}
    return Node({"inputs": data, "reduction_indices": axes}, attributes, ("reduction_indices",))


@recipe("UnsortedSegmentJoin", NO_TYPE)
def joined_segments(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    data, count = texts(draw, draw.filled(1, 1)), draw.integer(1, 4)
    ids = draw.between(index_type(draw), data.shape, 0, count - 1)
    operands = {"inputs": data, "segment_ids": ids, "num_segments": np.array(count, np.int32)}
    return Node(operands, {"separator": draw.one_of(("", "-"))}, ("num_segments",))


@recipe("Substr", NO_TYPE)
def substring(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    index = index_type(draw)
    data = texts(draw, draw.shape(0, 2), ("abcdef", "xyz!", "0123"))
    operands = {"input": data, "pos": np.array(draw.integer(-3, 3), index), "len": np.array(draw.integer(0, 5), index)}
    return Node(operands, {}, ("pos", "len"))


@recipe("StringSplitV2", NO_TYPE)
def split(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.filled(1, 1)), "sep": np.array(draw.one_of(("", " ", ",")), object)}, {}, ("sep",))


@recipe("StringToNumber", NO_TYPE)
def to_number(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    target = draw.one_of((tf.float32, tf.int32))
    among = NUMBERS if target == tf.float32 else ("0", "12", "-7", " 8 ", "+4", "123456")
    return Node({"string_tensor": texts(draw, draw.shape(0, 2), among)}, {"out_type": target})


@recipe("AsString")
def as_text(draw: Draw, dtype: np.dtype[Any]) -> Node:
    return Node({"input": draw.array(dtype, draw.shape(0, 3), special=0.0)})


@recipe("StaticRegexReplace", NO_TYPE)
def replaced(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    pattern = draw.one_of(("a", "[ab]", " +", r"\s", r"[^a-z]", ","))
    return Node({"input": texts(draw, draw.shape(0, 2), ENGLISH)}, {"pattern": pattern, "rewrite": draw.one_of(("", "-"))})


@recipe("DecodeRaw", NO_TYPE)
def raw_numbers(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    target = draw.one_of((tf.uint8, tf.int8, tf.int32, tf.float32, tf.int16))
    among = ("abcdefgh", "ABCDEFGH", "01234567") if target.size > 1 else ("abc", "xyz")
    return Node({"bytes": texts(draw, draw.filled(1, 2), among)}, {"out_type": target})


@recipe("EncodeBase64", NO_TYPE)
def encoded(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.filled(0, 2))}, {"pad": draw.chance(0.5)})


@recipe("DecodeBase64", NO_TYPE)
def decoded(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.filled(0, 2), ("", "YQ", "YWI", "YWJj", "SGVsbG8"))})


@recipe("UnicodeDecode", NO_TYPE)
def code_points(draw: Draw, dtype: np.dtype[Any]) -> Node:
    del dtype
    return Node({"input": texts(draw, draw.filled(1, 1))}, {"input_encoding": "UTF-8"})
