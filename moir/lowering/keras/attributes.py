"""The configuration, the arguments and the variables of a layer.

Operands are the tensors of the call, then the variables. The attributes `arguments` and `keyword_arguments` hold the
arguments of a call, unless these are just the tensors in order; in them "%0" stands for the first operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeGuard, cast

import numpy as np
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.frameworks.keras import ELEMENTS
from moir.dialects.frameworks.structures import structure_of
from moir.dialects.shapes import normalize_axis
from moir.errors import ConversionError
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import Reader
from moir.support.decimals import decimal_of


def config_of(node: LoweringNode) -> dict[str, Any]:
    """The configuration of a layer: its attributes as the dictionary in the model file."""
    return {name: structure_of(value) for name, value in node.op.properties.items()}


def _any(node: LoweringNode, name: str, default: object) -> Any:
    attribute = node.op.properties.get(name)
    return default if attribute is None else structure_of(attribute)


def _entries(node: LoweringNode, name: str, default: Sequence[int] | None) -> tuple[int, ...]:
    attribute = _any(node, name, default)
    if isinstance(attribute, int):
        return (attribute,)
    if not isinstance(attribute, tuple) or not all(isinstance(each, int) for each in cast("tuple[object, ...]", attribute)):
        node.fail(f"{name} is {attribute!r}, not a list of integers")
    return cast("tuple[int, ...]", attribute)


def element_named(node: LoweringNode, name: str) -> Attribute:
    """The element type of a name. Raises ConversionError for one that the operation sets do not have."""
    if name not in ELEMENTS:
        node.fail(f"the operation sets do not have the element type {name!r}", hint="use another dtype in the model")
    return ELEMENTS[name]


READERS: Mapping[str, Reader] = {
    "object": _any,
    "int": lambda node, name, default: node.integer(name, default),
    "float": lambda node, name, default: node.number(name, default),
    "str": lambda node, name, default: node.text(name, default),
    "bool": lambda node, name, default: node.flag(name, bool(default)),
    "tuple[int, ...]": _entries,
    "Attribute": lambda node, name, _: element_named(node, node.text(name)),
}
"""How an attribute is read, by the annotation of the handler's parameter.

A list of integers may be a single integer in the file.
"""


def by_axis(node: LoweringNode, name: str, values: Sequence[int], axes: int) -> tuple[int, ...]:
    """The values of an attribute, one for each of `axes` spatial axes; a single value applies to all.

    Raises ConversionError for another number of values.
    """
    if len(values) == 1:
        return (*values,) * axes
    if len(values) != axes:
        node.fail(f"{name} has {len(values)} entries for {axes} spatial axes")
    return tuple(values)


def variables(node: LoweringNode, prefix: str = "") -> list[SSAValue]:
    """The variables of a layer whose names begin with `prefix`, for example those of a layer within it; by default all
    of them.
    """
    names = node.texts("weight_names", ())
    first = len(node.values) - len(names)
    return [node.operand(first + index) for index, name in enumerate(names) if name.startswith(prefix)]


def tensors(node: LoweringNode) -> list[SSAValue]:
    """The tensors of a call, without the variables of the layer."""
    return [node.operand(index) for index in range(len(node.values) - len(node.texts("weight_names", ())))]


def is_tensor(value: object) -> TypeGuard[SSAValue]:
    """Whether an argument is a tensor."""
    return isinstance(value, SSAValue)


def numbers_of(value: object) -> Array:
    """A scalar or nested lists of scalars in a configuration, as an array. Raises ConversionError for another value."""
    try:
        numbers = np.asarray(value)
    except ValueError:
        numbers = None
    if numbers is None or numbers.dtype.kind not in "biufV":
        raise ConversionError(f"an argument is {type(value).__name__}, where numbers or tensors are meant")
    return numbers


class Arguments:
    """The arguments of a call: values, and constants of the configuration.

    Args:
        node: the node.
        names: the names of the positional arguments, in order.
    """

    def __init__(self, node: LoweringNode, *names: str) -> None:
        self._node = node
        values = tensors(node)
        keywords = node.op.properties.get("keyword_arguments")
        positional = node.op.properties.get("arguments")
        named = {} if keywords is None else cast("dict[str, Any]", structure_of(keywords))
        placed: tuple[Any, ...]
        if positional is None:
            # "%N" is the operand N. Tensors that no keyword argument names are positional.
            used = {text for text in _texts(named) if text.startswith("%")}
            placed = tuple(f"%{index}" for index in range(len(values)) if f"%{index}" not in used)
        else:
            placed = cast("tuple[Any, ...]", structure_of(positional))
        self.positional: list[Any] = [self._resolved(each, values) for each in placed]
        self.keywords: dict[str, Any] = {name: self._resolved(each, values) for name, each in named.items()}
        self._names = names

    def _resolved(self, value: Any, values: Sequence[SSAValue]) -> Any:
        if isinstance(value, str) and value.startswith("%") and (index := decimal_of(value[1:])) is not None:
            if index >= len(values):
                self._node.fail(f"there is no tensor {value} in the call")
            return values[index]
        if isinstance(value, tuple):
            return [self._resolved(each, values) for each in cast("tuple[Any, ...]", value)]
        if isinstance(value, dict):
            return {name: self._resolved(each, values) for name, each in cast("dict[str, Any]", value).items()}
        return value

    def get(self, name: str, default: Any = None) -> Any:
        """An argument by its name; the default if it is absent or None."""
        if name in self._names and (index := self._names.index(name)) < len(self.positional):
            value = self.positional[index]
        else:
            value = self.keywords.get(name)
        return default if value is None else value

    def tensor(self, name: str) -> SSAValue:
        """The tensor that is the argument `name`, or the only element of the list that is.

        Raises ConversionError for any other argument.
        """
        value: Any = self.get(name)
        if isinstance(value, list) and len(cast("list[Any]", value)) == 1:
            value = cast("list[Any]", value)[0]
        if not is_tensor(cast(object, value)):
            self._node.fail(f"its argument {name} is not a tensor")
        return cast("SSAValue", value)

    def optional(self, name: str) -> SSAValue | None:
        """The tensor that is the argument `name`; None if it is absent. Raises ConversionError if it is no tensor."""
        return None if self.get(name) is None else self.tensor(name)

    def flag(self, name: str) -> bool:
        """Whether the argument `name` is true; false if it is absent. Raises ConversionError for a tensor."""
        flag = self.get(name, False)
        if is_tensor(flag):
            self._node.fail(f"the argument {name} is computed, which is not supported")
        return bool(flag)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple):
        for each in cast("tuple[Any, ...]", value):
            yield from _texts(each)
    elif isinstance(value, dict):
        for each in cast("dict[str, Any]", value).values():
            yield from _texts(each)


def values_within(value: Any) -> list[SSAValue]:
    """The tensors within an argument, in order."""
    if is_tensor(value):
        return [value]
    if isinstance(value, list):
        return [nested for each in cast("list[Any]", value) for nested in values_within(each)]
    if isinstance(value, dict):
        return [nested for each in cast("dict[str, Any]", value).values() for nested in values_within(each)]
    return []


def axis_list(node: LoweringNode, axis: object, rank: int) -> list[int]:
    """The axes that an attribute names, as nonnegative integers below `rank`; all axes for None.

    Raises ConversionError for an axis out of range.
    """
    if axis is None:
        return list(range(rank))
    entries = [axis] if isinstance(axis, int) else list(cast("Sequence[Any]", axis))
    if not all(isinstance(each, int) and -rank <= each < rank for each in entries):
        node.fail(f"axis is {axis!r} for a tensor of rank {rank}")
    return [normalize_axis(each, rank) for each in entries]


def is_channel_last(node: LoweringNode, data_format: str | None) -> bool:
    """Whether a data format has the channels last; true for None. Raises ConversionError for an unknown format."""
    if data_format not in (None, "channels_last", "channels_first"):
        node.fail(f"the data format {data_format!r} does not exist")
    return data_format != "channels_first"
