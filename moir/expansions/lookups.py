"""Look-ups among constants: the position of each element among keys, and the constant at each position.

Numbers are found in sorted keys. A tensor of strings is unpacked into its bytes and the begin and end of each string,
which are compared with those of the keys.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import si32, string
from moir.expansions.strings.texts import Texts, constant_texts, packed
from moir.rewriting.builder import OpBuilder


def number_position(op: OpBuilder, found: SSAValue, keys: Array, element: Attribute) -> tuple[SSAValue, SSAValue]:
    """For each number a position, and whether it equals the key at that position.

    Args:
        op: the builder.
        found: the numbers, of type `element`.
        keys: the keys in ascending order, at least one, none of them NaN.
        element: the element type of both.
    """
    known = op.constant(keys, element)
    position = op.Minimum(op.SearchSorted(known, found), keys.size - 1)
    return position, op.Equal(op.Gather(known, position, 0), found)


def encoded(strings: Array) -> list[bytes]:
    """Strings as bytes."""
    return [str(text).encode() for text in strings.ravel()]


def string_position(op: OpBuilder, found: SSAValue, keys: Sequence[bytes]) -> SSAValue:
    """For each string the index of the key that equals it, the last of several; -1 if there is none.

    The bytes of every string, padded with zeros, are compared with those of every key. Sizes are compared as well,
    because strings may contain zeros.
    """
    width = max(1, *map(len, keys))
    table = np.stack([np.frombuffer(key.ljust(width, b"\0"), np.uint8) for key in keys])
    sizes = np.array([len(key) for key in keys], np.int32)
    begins, ends, symbols = op.StringTensorUnpack.results(found)
    places = op.Add(op.Unsqueeze(begins, [-1]), np.arange(width, dtype=np.int32))
    after = op.ShapeOf(symbols, output_type=si32)
    places = op.Select(op.Less(places, op.Unsqueeze(ends, [-1])), places, after)
    content = op.Gather(op.Concat(symbols, np.zeros(1, np.uint8), axis=0), places, 0)
    same_bytes = op.ReduceLogicalAnd(op.Equal(op.Unsqueeze(content, [-2]), table), [-1], keep_dims=False)
    same_size = op.Equal(op.Unsqueeze(op.Subtract(ends, begins), [-1]), sizes)
    numbers = op.Select(op.LogicalAnd(same_bytes, same_size), np.arange(len(keys), dtype=np.int32), np.array(-1, np.int32))
    return op.ReduceMax(numbers, [-1], keep_dims=False)


def selected_string(op: OpBuilder, position: SSAValue, texts: Sequence[bytes]) -> SSAValue:
    """Constant strings selected by their numbers."""
    listed = constant_texts(op, texts)
    return packed(op, Texts(op.Gather(listed.begins, position, 0), op.Gather(listed.ends, position, 0), listed.symbols))


def looked_up(op: OpBuilder, found: SSAValue, keys: DataAttr, values: DataAttr, default: SSAValue) -> SSAValue | None:
    """The value of each key that is found, and the default for what is no key; None if that is a computed string.

    Numbers are searched for in the sorted keys; strings are compared byte by byte.
    """
    if keys.array.size == 0:
        return op.Broadcast(default, op.ShapeOf(found))
    if keys.element == string:
        position, of_keys = string_position(op, found, encoded(keys.array)), values.array.reshape(-1)
        is_key = op.GreaterEqual(position, 0)
    else:
        order = np.argsort(keys.array.reshape(-1), kind="stable")
        in_order, of_keys = keys.array.reshape(-1)[order], values.array.reshape(-1)[order]
        position, is_key = number_position(op, found, in_order, keys.element)
    if values.element != string:
        return op.Select(is_key, op.Gather(op.constant(of_keys, values.element), position, 0), default)
    otherwise = op.known.constant(default)
    if otherwise is None or otherwise.size != 1:
        return None
    return selected_string(op, op.Select(is_key, position, of_keys.size), [*encoded(of_keys), *encoded(otherwise)])
