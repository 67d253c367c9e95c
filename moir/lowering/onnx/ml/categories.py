"""Categories: OneHotEncoder, LabelEncoder, CategoryMapper, by look-ups in constant tables.

    %y = onnx.ai.onnx.ml.LabelEncoder(%x) {keys_int64s, values_floats, default_float}
->  %y = Select(Equal(Gather(keys, %i), %x), Gather(values, %i), default), %i = SearchSorted(keys, %x)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array, DataAttr
from moir.dialects.element_types import boolean, f32, si32, si64, string
from moir.dialects.shapes import element_of
from moir.expansions.lookups import encoded, number_position, selected_string, string_position
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder


class Constants(NamedTuple):
    """The elements of an attribute as a 1-D array, with their element type."""

    array: Array
    element: Attribute


_SUFFIXES: dict[str, tuple[Any, Attribute]] = {
    "int64s": (np.int64, si64),
    "floats": (np.float32, f32),
    "strings": (object, string),
}
"""The element type of the attributes `keys_…` and `values_…`, by the suffix of their names."""


def _constants_of(node: LoweringNode, name: str) -> Constants:
    """The `keys` or the `values` of a LabelEncoder, read from the attribute that has them.

    Raises ConversionError if none does.
    """
    attribute = node.op.properties.get(f"{name}_tensor")
    if isinstance(attribute, DataAttr):
        return Constants(attribute.array.reshape(-1), attribute.element)
    suffix = next((suffix for suffix in _SUFFIXES if node.has(f"{name}_{suffix}")), None)
    if suffix is None:
        node.fail(f"it has no {name}")
    dtype, element = _SUFFIXES[suffix]
    values: Any = node.attribute(f"{name}_{suffix}", None)
    return Constants(np.array(values, dtype), element)


def _default(node: LoweringNode, element: Attribute) -> Array:
    """The value of a LabelEncoder for elements that are not keys: an array of one element."""
    tensor = node.tensor("default_tensor")
    if tensor is not None and tensor.size:
        return tensor.reshape(-1)[:1]
    if element == string:
        return np.array([node.text("default_string", "_Unused")], object)
    if element in (si64, si32):
        return np.array([node.integer("default_int64", -1)])
    return np.array([np.float32(node.number("default_float", 0.0))])


def _replaced(op: OpBuilder, x: SSAValue, keys: Constants, values: Constants, default: Array) -> SSAValue:
    """The value that belongs to each element of x: that of the first key which equals the element, or the default."""
    if keys.array.size == 0:
        shape = op.ShapeOf(x)
        if values.element == string:
            return selected_string(op, op.Broadcast(0, shape), encoded(default))
        return op.Broadcast(op.constant(default.reshape(()), values.element), shape)
    position, is_key, order = _positions(op, x, keys)
    gathered = values.array[order]
    if values.element == string:
        return selected_string(op, op.Select(is_key, op.convert(position, si64), gathered.size), [*encoded(gathered), *encoded(default)])
    replacements = op.Gather(op.constant(gathered, values.element), position, 0)
    return op.Select(is_key, replacements, op.constant(default.reshape(()), values.element))


def _positions(op: OpBuilder, x: SSAValue, keys: Constants) -> tuple[SSAValue, SSAValue, Array]:
    """Look up the elements of x in the keys.

    Returns for each element of x an index among the sorted keys, and whether the key there equals the element; and for
    each sorted key its index in `keys`.
    """
    if keys.element == string:
        texts = encoded(keys.array)
        first = {text: index for index, text in reversed(list(enumerate(texts)))}
        position = string_position(op, x, list(first))
        return op.Maximum(position, 0), op.Less(-1, position), np.array(list(first.values()))
    element = keys.element if keys.element in (f32, si64, si32) else f32 if keys.array.dtype.kind == "f" else si32
    x, array = op.convert(x, element), keys.array
    missing = np.flatnonzero(np.isnan(array)) if array.dtype.kind == "f" else np.zeros(0, np.int64)
    kept = np.setdiff1d(np.arange(array.size), missing)
    if not kept.size:
        return op.Convert(op.Multiply(op.ConvertLike(op.IsNaN(x), x), 0.0), destination_type=si32), op.IsNaN(x), missing[:1]
    in_order, first = np.unique(array[kept], return_index=True)
    order = kept[first]
    position, is_key = number_position(op, x, in_order, element)
    if missing.size:
        is_missing = op.IsNaN(x)
        position = op.Select(is_missing, order.size, position)
        is_key, order = op.LogicalOr(is_key, is_missing), np.append(order, missing[0])
    return position, is_key, order


@onnx.lowers("ai.onnx.ml.LabelEncoder", since=2)
def label_encoder(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """onnx.ai.onnx.ml.LabelEncoder(x) -> Select(x equals key i, Gather(values, i), default)"""
    keys, values = _constants_of(node, "keys"), _constants_of(node, "values")
    if keys.array.size != values.array.size:
        node.fail(f"it has {keys.array.size} keys and {values.array.size} values")
    return _replaced(op, x, keys, values, _default(node, values.element))


def _between_strings_and_integers(node: LoweringNode, op: OpBuilder, names: Array, integers: Array) -> SSAValue:
    """The integer for each name if operand 0 has strings; else the name for each integer."""
    x, own, others = node.operand(0), Constants(names, string), Constants(integers, si64)
    to_names = element_of(x) != string
    keys, values = (others, own) if to_names else (own, others)
    return _replaced(op, op.convert(x, si64) if to_names else x, keys, values, _default(node, values.element))


@onnx.lowers("ai.onnx.ml.LabelEncoder")
def label_encoder_of_classes(node: LoweringNode, op: OpBuilder, *, classes_strings: tuple[str, ...] = ()) -> SSAValue:
    """onnx.ai.onnx.ml.LabelEncoder(x) {classes_strings} -> the index of each name, or the name of each index"""
    names = np.array(classes_strings, object)
    return _between_strings_and_integers(node, op, names, np.arange(names.size, dtype=np.int64))


@onnx.lowers("ai.onnx.ml.CategoryMapper")
def category_mapper(
    node: LoweringNode, op: OpBuilder, *, cats_strings: tuple[str, ...] = (), cats_int64s: tuple[int, ...] = ()
) -> SSAValue:
    """onnx.ai.onnx.ml.CategoryMapper(x) {cats_strings, cats_int64s} -> the integer of each name, or the reverse"""
    if len(cats_strings) != len(cats_int64s):
        node.fail(f"it has {len(cats_strings)} names and {len(cats_int64s)} numbers")
    # Of equal names or integers the last one counts.
    return _between_strings_and_integers(node, op, np.array(cats_strings[::-1], object), np.array(cats_int64s[::-1], np.int64))


@onnx.lowers("ai.onnx.ml.OneHotEncoder")
def one_hot_encoder(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, cats_strings: tuple[str, ...] = (), cats_int64s: tuple[int, ...] = ()
) -> SSAValue:
    """onnx.ai.onnx.ml.OneHotEncoder(x) {cats_int64s} -> Convert(Equal(Unsqueeze(x, -1), categories))

    An element that is not a category gives zeros, also with `zeros = 0`, where ONNX Runtime raises an error.
    """
    if not cats_strings and not cats_int64s:
        node.fail("it has no categories")
    if bool(cats_strings) != (element_of(x) == string):
        node.fail("its categories are of another type than its operand")
    names: list[Any] = list(encoded(np.array(cats_strings, object))) if cats_strings else list(cats_int64s)
    categories_of_x = op.Unsqueeze(string_position(op, x, names) if cats_strings else op.convert(x, si64), [-1])
    categories = np.arange(len(names), dtype=np.int32) if cats_strings else np.array(names, np.int64)
    result = op.Equal(categories_of_x, categories)
    counts = np.array([name not in names[index + 1 :] for index, name in enumerate(names)])
    if not counts.all():
        # Of equal categories the last one counts.
        result = op.LogicalAnd(result, op.constant(counts, boolean))
    return op.Convert(result, destination_type=f32)
