"""Typed access to the parameters and the weights of a Caffe layer.

    layer { … convolution_param { num_output: 8 kernel_size: 3 kernel_size: 5 } }
->  caffe.Convolution(%x, %w) {blobs = 1, convolution_param = {num_output = 8, kernel_size = [3, 5]}}
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, SSAValue

from moir.dialects.data import Array
from moir.dialects.properties import value_of
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import bound
from moir.lowering.table import BoundHandler


class LayerParameters:
    """The parameters in one field of a layer, such as `convolution_param`.

    Args:
        node: the layer, for messages.
        fields: the fields of the message.
        name: the name of the field, for messages.
    """

    def __init__(self, node: LoweringNode, fields: Mapping[str, Attribute], name: str) -> None:
        self._node = node
        self._fields = fields
        self._name = name

    def has(self, name: str) -> bool:
        """Whether the message has a field of this name."""
        return name in self._fields

    def _values(self, name: str) -> list[Any]:
        """The values of a parameter as a list, which has several elements if the parameter is repeated, and none if it
        is absent.
        """
        values = self._fields.get(name)
        if values is None:
            return []
        value = value_of(values)
        return list(cast("Sequence[Any]", value)) if isinstance(value, tuple) else [value]

    def _typed(self, name: str, kinds: tuple[type, ...], description: str) -> list[Any]:
        values = self._values(name)
        if not all(isinstance(value, kinds) for value in values):
            self._node.fail(f"{self._name}.{name} is {values}, not {description}")
        return values

    def integers(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        """The values of a repeated integer parameter; the default if there are none."""
        return tuple(int(value) for value in self._typed(name, (int,), "of integers")) or tuple(default or ())

    def numbers(self, name: str, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """The values of a repeated float parameter; the default if there are none."""
        return tuple(float(value) for value in self._typed(name, (int, float), "of numbers")) or tuple(default or ())

    def integer(self, name: str, default: int | None = None) -> int:
        """An integer parameter. Raises ConversionError if it is absent and has no default."""
        return self._last(name, self.integers(name), default)

    def number(self, name: str, default: float | None = None) -> float:
        """A float parameter. Raises ConversionError if it is absent and has no default."""
        return self._last(name, self.numbers(name), default)

    def text(self, name: str, default: str) -> str:
        """A string parameter; the default if it is absent."""
        return self._last(name, [str(value) for value in self._values(name)], default)

    def flag(self, name: str, default: bool = False) -> bool:
        """A boolean parameter; the default if it is absent."""
        return self._last(name, [bool(value) for value in self._typed(name, (bool, int), "true or false")], default)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """The name of an enumeration's value, which the layer gives by name or by number; the first of `choices` if it
        is absent.

        `choices` are the names of 0, 1, … Raises ConversionError for another value.
        """
        return self.numbered_choice(name, dict(enumerate(choices)))

    def numbered_choice(self, name: str, choices: Mapping[int, str]) -> str:
        """The name of an enumeration's value, which the layer gives by name or by number; the first of `choices` if it
        is absent.

        `choices` are the names by number. Raises ConversionError for another value.
        """
        values = self._values(name)
        value = values[-1] if values else next(iter(choices.values()))
        choice = choices.get(value, value) if isinstance(value, int) else value
        if choice not in choices.values():
            self._node.fail(f"{self._name}.{name} is {value!r}, not one of {', '.join(choices.values())}")
        return str(choice)

    def message(self, name: str) -> LayerParameters:
        """The parameters in a field that is a message; empty if it is absent."""
        return _parameters(self._node, self._fields.get(name), f"{self._name}.{name}")

    def _last(self, name: str, values: Sequence[Any], default: Any) -> Any:
        if values:
            return values[-1]
        if default is None:
            self._node.fail(f"{self._name}.{name} is missing")
        return default


def _parameters(node: LoweringNode, attribute: Attribute | None, name: str) -> LayerParameters:
    if isinstance(attribute, ArrayAttr):
        # If a message occurs twice, the later fields take precedence.
        merged: dict[str, Attribute] = {}
        for each in cast("ArrayAttr[Attribute]", attribute):
            merged |= each.data if isinstance(each, DictionaryAttr) else {}
        return LayerParameters(node, merged, name)
    if attribute is not None and not isinstance(attribute, DictionaryAttr):
        node.fail(f"{name} is not a message")
    return LayerParameters(node, {} if attribute is None else attribute.data, name)


def parameters(node: LoweringNode, name: str) -> LayerParameters:
    """The parameters of a layer in the field `name`; without the field, all have their defaults."""
    return _parameters(node, node.op.properties.get(name), name)


def with_parameters(name: str) -> Callable[[Callable[..., Any]], BoundHandler]:
    """A decorator for handlers of layers: the arguments in the handler's signature are read from the field `name` of
    the layer.
    """

    def decorate(handler: Callable[..., Any]) -> BoundHandler:
        bound_handler = bound(handler, partial(parameters, name=name))
        vars(bound_handler)["layer_parameters"] = name
        return bound_handler

    return decorate


def parameter_text(text: str) -> dict[str, Any] | None:
    """The parameters of a layer written in Python, parsed from their text; None if the text is not a dictionary.

    The braces around it may be missing, and in YAML the quotes around the names.
    """
    lines = ", ".join(filter(None, (line.strip().rstrip(",") for line in text.splitlines())))
    for form in (text, f"{{{lines}}}", "{" + re.sub(r"(?:^|(?<=, ))(\w+)\s*:", r"'\1':", lines) + "}"):
        try:
            literal: object = ast.literal_eval(form.strip() or "{}")
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            continue
        if isinstance(literal, dict):
            return {str(key): value for key, value in cast("dict[object, Any]", literal).items()}
    return None


def bottoms(node: LoweringNode, least: int = 1, most: int | None = None) -> list[SSAValue]:
    """The operands of a layer that are not weights. Raises ConversionError unless their number is from `least` to
    `most`.

    A `most` of None means no upper limit.
    """
    values = node.operands[: len(node.op.operands) - blob_count(node)]
    if len(values) < least or (most is not None and len(values) > most):
        wanted = f"{least}" if most == least else f"at least {least}" if most is None else f"{least} to {most}"
        node.fail(f"it has {len(values)} bottoms, not {wanted}")
    return values


def blob_count(node: LoweringNode) -> int:
    """The number of weights of a layer."""
    return node.integer("blobs", 0)


def blob(node: LoweringNode, index: int, shape: Sequence[int] | None = None) -> Array:
    """A weight of a layer, in a shape that may have one -1.

    Raises ConversionError if the layer does not have it, or its size contradicts the shape.
    """
    count = blob_count(node)
    if index >= count:
        reason = f"its weight {index} is missing: the model file has {count} for this layer"
        node.fail(reason, hint="is the .prototxt that of another network?")
    array = node.constant(len(node.op.operands) - count + index)
    if array is None:
        node.fail(f"its weight {index} is not a constant")
    if shape is None:
        return array
    try:
        return array.reshape(tuple(shape))
    except ValueError:
        reason = f"its weight {index} has shape {list(array.shape)}, which is no {list(shape)}"
        node.fail(reason, hint="is the .prototxt that of another network?")
