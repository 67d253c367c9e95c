"""Look-ups in constant tables: the index of the key that equals an element, and the value at that index.

Numbers are searched for in sorted keys. A tensor of strings is unpacked into its bytes and the begin and end of each
string, which are compared with those of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import si32, string
from moir.expansions.strings.texts import Texts, constant_texts, packed
from moir.rewriting.builder import OpBuilder


def number_position(op: OpBuilder, x: SSAValue, keys: Array, element: Attribute) -> tuple[SSAValue, SSAValue]:
    """For each element of x the index of the first key that is not less (the last key if all are less), and whether
    that key equals the element.

    Args:
        op: the builder.
        x: a tensor of numbers of type `element`.
        keys: the keys in ascending order, at least one, none of them NaN.
        element: the element type of both.
    """
    known = op.constant(keys, element)
    position = op.Minimum(op.SearchSorted(known, x), keys.size - 1)
    return position, op.Equal(op.Gather(known, position, 0), x)


def encoded(strings: Array) -> list[bytes]:
    """Strings as UTF-8 bytes, in the order of the flattened array."""
    return [str(text).encode() for text in strings.ravel()]


def string_position(op: OpBuilder, texts: SSAValue, keys: Sequence[bytes]) -> SSAValue:
    """For each string the index of the key that equals it; of several equal keys the last one, and -1 without one.

    The bytes of every string, padded with zeros, are compared with those of every key. Sizes are compared as well,
    because strings may contain zeros.
    """
    width = max(1, *map(len, keys))
    table = np.stack([np.frombuffer(key.ljust(width, b"\0"), np.uint8) for key in keys])
    sizes = np.array([len(key) for key in keys], np.int32)
    begins, ends, symbols = op.StringTensorUnpack.results(texts)
    positions = op.Add(op.Unsqueeze(begins, [-1]), np.arange(width, dtype=np.int32))
    after = op.ShapeOf(symbols, output_type=si32)
    positions = op.Select(op.Less(positions, op.Unsqueeze(ends, [-1])), positions, after)
    content = op.Gather(op.Concat(symbols, np.zeros(1, np.uint8), axis=0), positions, 0)
    same_bytes = op.ReduceLogicalAnd(op.Equal(op.Unsqueeze(content, [-2]), table), [-1], keep_dims=False)
    same_size = op.Equal(op.Unsqueeze(op.Subtract(ends, begins), [-1]), sizes)
    indices = op.Select(op.LogicalAnd(same_bytes, same_size), np.arange(len(keys), dtype=np.int32), np.array(-1, np.int32))
    return op.ReduceMax(indices, [-1], keep_dims=False)


def selected_string(op: OpBuilder, position: SSAValue, texts: Sequence[bytes]) -> SSAValue:
    """The strings of a constant list at computed indices."""
    constants = constant_texts(op, texts)
    return packed(op, Texts(op.Gather(constants.begins, position, 0), op.Gather(constants.ends, position, 0), constants.symbols))


def looked_up(op: OpBuilder, queries: SSAValue, keys: DataAttr, values: DataAttr, default: SSAValue) -> SSAValue | None:
    """The value in the table for each query; a query that is not a key gets the default.

    None if the values are strings and the default is not constant. Numbers are searched for in the sorted keys; strings
    are compared byte by byte.
    """
    if keys.array.size == 0:
        return op.Broadcast(default, op.ShapeOf(queries))
    if keys.element == string:
        position, of_keys = string_position(op, queries, encoded(keys.array)), values.array.reshape(-1)
        is_key = op.GreaterEqual(position, 0)
    else:
        order = np.argsort(keys.array.reshape(-1), kind="stable")
        in_order, of_keys = keys.array.reshape(-1)[order], values.array.reshape(-1)[order]
        position, is_key = number_position(op, queries, in_order, keys.element)
    if values.element != string:
        return op.Select(is_key, op.Gather(op.constant(of_keys, values.element), position, 0), default)
    otherwise = op.known.constant(default)
    if otherwise is None or otherwise.size != 1:
        return None
    return selected_string(op, op.Select(is_key, position, of_keys.size), [*encoded(of_keys), *encoded(otherwise)])
