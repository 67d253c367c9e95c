"""Operands and attributes of PaddlePaddle's nodes in their forms: numbers as operands, element types as integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects import element_types
from moir.dialects.data import Array
from moir.dialects.element_types import is_element_type, to_numpy
from moir.dialects.frameworks.paddle import ELEMENTS
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, normalize_axis
from moir.expansions.shape_values import as_list
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import Reader
from moir.rewriting.builder import OpBuilder

SCALARS_SINCE = 2_005_000
"""The version of PaddlePaddle since which tensors without dimensions exist: in older versions they had one dimension
of size 1.
"""


def element(node: LoweringNode, name: str, default: Attribute | None) -> Attribute:
    """The element type in an attribute; the default if it is absent or -1.

    Raises ConversionError if it is absent without a default, or the operation sets do not have the type.
    """
    attribute = node.op.properties.get(name)
    value: object = None if attribute is None else value_of(attribute)
    if value is None or value == -1:
        if default is None:
            node.fail(f"attribute {name} is missing")
        return default
    if not isinstance(value, int) or value not in ELEMENTS:
        node.fail(f"{name} {value!r} is not an element type of the operation sets")
    return ELEMENTS[value]


def entries(node: LoweringNode, name: str, default: Sequence[int] | None) -> tuple[int, ...]:
    """The integers of an attribute that is a list or a single integer; the default if it is absent."""
    attribute = node.op.properties.get(name)
    value: object = None if attribute is None else value_of(attribute)
    return (value,) if isinstance(value, int) and not isinstance(value, bool) else node.integers(name, default)


READERS: Mapping[str, Reader] = {"Attribute": element, "tuple[int, ...]": entries}
"""How an attribute is read, by the annotation of the handler's parameter."""


def optional_element(node: LoweringNode, name: str) -> Attribute | None:
    """The element type in an attribute; None if the attribute is missing or -1."""
    attribute = node.op.properties.get(name)
    return None if attribute is None or value_of(attribute) == -1 else element(node, name, None)


def known_integers(node: LoweringNode, index: int, what: str) -> tuple[int, ...]:
    """The elements of a constant operand of integers, in any shape. Raises ConversionError, which names the operand
    `what`, if it is not constant.
    """
    array = node.constant(index)
    if array is None:
        node.fail(f"{what} is computed when the model runs, which is not supported", hint="give the model's inputs static shapes")
    if array.dtype.kind not in "iub" and not np.array_equal(array, np.trunc(array)):
        node.fail(f"{what} is {array.tolist()}, not of integers")
    return tuple(int(each) for each in array.reshape(-1))


def known_integer(node: LoweringNode, index: int, what: str, default: int | None = None) -> int:
    """The only element of a constant operand of integers; the default if the operand is absent.

    Raises ConversionError, which names the operand `what`, otherwise.
    """
    if default is not None and node.optional(index) is None:
        return default
    integers = known_integers(node, index, what)
    if len(integers) != 1:
        node.fail(f"{what} is {list(integers)}, not one integer")
    return integers[0]


def known_number(node: LoweringNode, index: int, what: str, default: float | None = None) -> float:
    """The element of a constant operand; the default if the operand is absent.

    Raises ConversionError, which names the operand `what`, otherwise.
    """
    if default is not None and node.optional(index) is None:
        return default
    array = node.constant(index)
    if array is None or array.size != 1:
        node.fail(f"{what} is not a constant of one element, which is not supported")
    return float(array.reshape(-1)[0])


_VALUES = ("values", "fp32_values", "int64_values", "int32_values", "bool_values", "fp64_values", "fp16_values", "int8_values")


def attribute_values(node: LoweringNode) -> Array:
    """The values in the attributes of a node as an array.

    There is an attribute for each element type, of which only one is not empty.
    """
    for name in _VALUES:
        attribute = node.op.properties.get(name)
        values = cast("Sequence[float]", () if attribute is None else value_of(attribute))
        if len(values):
            return np.asarray(values)
    return np.zeros(0, np.float32)


def axes_of(node: LoweringNode, axes: Sequence[int], index: int = 0) -> list[int]:
    """Axes of operand `index` as nonnegative integers."""
    rank = node.known_rank(index)
    return [normalize_axis(axis, rank) for axis in axes]


def vector_of(op: OpBuilder, value: SSAValue) -> SSAValue:
    """An operand of integers, such as a shape, as a 1-D tensor of i64."""
    return as_list(op, op.convert(value, element_types.si64))


def is_integer(value: SSAValue) -> bool:
    """Whether the element type of a value is known and is not a float."""
    element_ = element_of(value)
    return is_element_type(element_) and element_ is not element_types.dynamic and np.dtype(to_numpy(element_)).kind in "iub"


def split_lists(node: LoweringNode, values: Sequence[SSAValue], count: int) -> list[list[SSAValue]]:
    """The operands of a node, split into `count` lists by its attribute with their lengths."""
    sizes = node.integers("list_sizes", ())
    if len(sizes) != count or sum(sizes) != len(values) or min(sizes) < 0:
        node.fail(f"its {len(values)} operands do not match list_sizes {list(sizes)}")
    lists: list[list[SSAValue]] = []
    position = 0
    for size in sizes:
        lists.append(list(values[position : position + size]))
        position += size
    return lists


def has_scalars(node: LoweringNode) -> bool:
    """Whether a result without dimensions is a scalar; in older versions of PaddlePaddle it has the shape [1]."""
    version = node.run.versions.get("paddle", 0)
    return not 0 < version < SCALARS_SINCE


def scalar_form(node: LoweringNode, op: OpBuilder, result: SSAValue, rank: int) -> SSAValue:
    """A result of the given rank; if the version of PaddlePaddle has no scalars, a scalar gets the shape [1]."""
    return result if rank > 0 or has_scalars(node) else op.Reshape(result, [1], special_zero=False)
