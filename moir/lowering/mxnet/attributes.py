"""Reads attributes of MXNet nodes in all their forms: a number in place of a list, None in a list, layouts."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects import element_types
from moir.dialects.element_types import is_element_type, to_numpy
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of, normalize_axis
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import Reader
from moir.rewriting.builder import OpBuilder

ELEMENTS: dict[str, Attribute] = element_types.of_xml_names(
    {
        "float16": "f16",
        "float32": "f32",
        "float64": "f64",
        "bfloat16": "bf16",
        "int8": "i8",
        "int32": "i32",
        "int64": "i64",
        "uint8": "u8",
        "bool": "boolean",
        "int16": "i16",
    }
)
"""The element types by their names in attributes."""

LONGEST_NUMBER = 20
"""The length of the longest integer of 64 bits in characters, with its sign."""


def operands(node: LoweringNode) -> list[SSAValue]:
    """All operands. Raises ConversionError if there are none."""
    return [node.operand(0), *node.operands[1:]]


def entries(node: LoweringNode, name: str, default: Sequence[int] = ()) -> tuple[int, ...]:
    """An attribute with a list of integers, or with one integer; the default if it is absent."""
    attribute = node.op.properties.get(name)
    value: object = () if attribute is None else value_of(attribute)
    if isinstance(value, int):
        return (value,)
    return node.integers(name, default)


def numbers_of(node: LoweringNode, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
    """An attribute that is a 1-D tensor of numbers, or one number; the default if it is absent."""
    value = node.attribute(name, None)
    return (float(value),) if isinstance(value, int | float) else node.numbers(name, default)


def by_axis(node: LoweringNode, name: str, axes: int, default: int) -> tuple[int, ...]:
    """An attribute with a value for each spatial axis, or `default` for every axis.

    Raises ConversionError for another number of values.
    """
    values = entries(node, name) or (default,) * axes
    if len(values) != axes:
        node.fail(f"{name} has {len(values)} entries for {axes} spatial axes")
    return values


def optional_entries(node: LoweringNode, name: str) -> list[int | None]:
    """An attribute with a list of integers, some of which may be None; empty if it is absent.

    Raises ConversionError for anything else.
    """
    attribute = node.op.properties.get(name)
    value: object = () if attribute is None else value_of(attribute)
    if isinstance(value, str):
        try:
            value = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            node.fail(f"{name} is {value!r}, not a list of integers")
    items = [value] if isinstance(value, int) or value is None else list(cast("Sequence[Any]", value))
    if not all(item is None or isinstance(item, int) for item in items):
        node.fail(f"{name} is {items}, not a list of integers")
    return items


def pairs_of(node: LoweringNode, name: str) -> tuple[int, ...]:
    """An attribute with a list of integers; numpy's operations have a list of pairs, which is flattened.

    Raises ConversionError for a number of more than 64 bits.
    """
    text = node.attribute(name, None)
    if not isinstance(text, str):
        return entries(node, name)
    digits = re.findall(r"-?\d+", text)
    if any(len(each) > LONGEST_NUMBER for each in digits):
        node.fail(f"a number of {name} is not an integer of 64 bits")
    return tuple(map(int, digits))


def axes_of(node: LoweringNode, rank: int, name: str = "axis") -> list[int] | None:
    """The axes in an attribute as nonnegative integers; None if the attribute is absent or empty."""
    if name not in node.op.properties or (axes := entries(node, name)) == ():
        return None
    return [normalize_axis(axis, rank) for axis in axes]


def check_pairs(node: LoweringNode, first: Sequence[int], second: Sequence[int], names: str) -> None:
    """Raises ConversionError if two lists from attributes, called `names`, have different lengths."""
    if len(first) != len(second):
        node.fail(f"{names} have {len(first)} and {len(second)} entries")


def element(node: LoweringNode, name: str, default: Attribute) -> Attribute:
    """The element type that an attribute names; the default if it is absent.

    Raises ConversionError for a type that the operation sets do not have.
    """
    spelled = node.text(name, "")
    if not spelled:
        return default
    if spelled not in ELEMENTS:
        node.fail(f"{name} {spelled!r} is not an element type of the operation sets")
    return ELEMENTS[spelled]


READERS: Mapping[str, Reader] = {
    "Attribute": element,
    "tuple[int, ...]": lambda node, name, default: entries(node, name, default or ()),
    "tuple[float, ...]": lambda node, name, default: numbers_of(node, name, tuple(default or ())),
}
"""How an attribute is read, by the annotation of the handler's parameter."""


def is_integer(value: SSAValue) -> bool:
    """Whether the element type of a value is known and is not a float."""
    element = element_of(value)
    return is_element_type(element) and element is not element_types.dynamic and np.dtype(to_numpy(element)).kind in "iub"


def is_channel_last(node: LoweringNode) -> bool:
    """Whether the attribute `layout` has the channels last. Raises ConversionError for an unsupported layout."""
    layout = node.text("layout", "NC")
    if not layout.startswith("N") or "C" not in layout or (not layout.endswith("C") and not layout.startswith("NC")):
        node.fail(f"layout {layout!r} is not supported")
    return layout.endswith("C") and len(layout) > 2


def channel_first(op: OpBuilder, value: SSAValue, rank: int) -> SSAValue:
    """[N, …, C] -> [N, C, …], for a value of a rank"""
    return op.transposed(value, [0, rank - 1, *range(1, rank - 1)])


def channel_last(op: OpBuilder, value: SSAValue, rank: int) -> SSAValue:
    """[N, C, …] -> [N, …, C], for a value of a rank"""
    return op.transposed(value, [0, *range(2, rank), 1])


def rank_of_operand(node: LoweringNode, index: int = 0) -> int:
    """The rank of an operand. If it is dynamic, raises ConversionError with a hint to give the shape."""
    rank = node.rank(index)
    if rank is None:
        node.fail(
            f"the rank of operand {index} is dynamic", hint="MXNet's files have no shapes of inputs; give them: --input NAME[1,3,224,224]"
        )
    return rank
