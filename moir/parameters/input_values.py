"""Inputs and outputs as Python values: texts in the notation, `Input`s, shapes, element types, lists and mappings.

    "x[1,3]{f32}"                              the notation of the command line
    Input("x", shape=[1, 3], type="f32")       the same, typed
    {"x": [1, 3], "mask": np.int32}            by name: a shape, an element type, both, or an array: its value
    [1, 3, 224, 224], [[1, 3], [10]]           shapes of the inputs of the model in their order
    ["x", Input("y", value=1.0)]               a list of items
    ("x", [1, 3], "f32")                       an item as a tuple

A shape is a sequence of dimensions: numbers, -1 or None where unknown, texts (`"1..10"`, `"batch"`), pairs of bounds.
Shapes, dimensions and types of OpenVINO and of TensorFlow, and types of numpy, are understood by their texts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from moir.parameters.input_notation import (
    ANY,
    Dimension,
    InputItem,
    Place,
    element_type,
    input_item,
    input_items,
    parse_dimension,
    parse_shape,
    place,
    places,
    shapes,
)

ShapeLike: TypeAlias = "Sequence[int | str | tuple[int, int] | None] | str | Any"
"""A shape: dimensions, or a text, or an object of OpenVINO or TensorFlow."""


class Input(NamedTuple):
    """An input of a converted model, for `convert_model(input=…)`.

    Args:
        name: an input, a tensor, or a node of the model, with a port before it (`0:conv1`: the input of that number)
            or after it (`conv1:0`: the output); empty for the next input of the model in its order.
        shape: its dimensions, e.g. `[1, 3, 224, 224]`: numbers, -1 or None where unknown, `"1..10"` for bounds,
            `"batch"` for an unknown one with a name; `[]` is a scalar. None: as in the model.
        type: its element type, as `"f32"`, `np.float32`, or a type of OpenVINO. None: as in the model.
        value: a number or an array that takes the place of the input; None: it stays an input.
    """

    name: str = ""
    shape: Any = None
    type: Any = None
    value: Any = None


def inputs_of(given: Any) -> tuple[InputItem, ...]:
    """The input items that a Python value describes.

    Raises ValueError or TypeError for a value that is not in one of the forms.
    """
    if isinstance(given, str):
        return input_items(given)
    if isinstance(given, Mapping):
        mapping = cast("Mapping[Any, Any]", given)
        return tuple(_named(str(name), value) for name, value in mapping.items())
    if _is_item(given) or _is_shape(given) or _is_type(given) or not _is_sequence(given):
        return (_item(given),)
    return tuple(map(_item, given))


def outputs_of(value: Any) -> tuple[Place, ...]:
    """The designations of outputs in a text, or in a list of names. Raises ValueError for any other value."""
    if isinstance(value, str):
        return places(value)
    if not _is_sequence(value) or not all(isinstance(each, str) for each in value):
        raise ValueError(f"{value!r} is not a list of names")
    return tuple(map(_place, value))


def shapes_of(value: Any) -> tuple[tuple[Dimension, ...], ...]:
    """Shapes from a text, one shape, or a list of shapes. Raises ValueError for any other value."""
    if isinstance(value, str):
        return shapes(value)
    if isinstance(value, Mapping):
        raise ValueError(f"shapes by name are not a list of shapes; give them as input: input={value!r}")
    if _is_shape(value):
        return (shape_of(value),)
    return tuple(map(shape_of, value))


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence)


def _is_tuple(value: Any) -> bool:
    """Whether a value is a plain tuple, not a named one."""
    return isinstance(value, tuple) and not hasattr(cast("object", value), "_fields")


def _is_item(value: Any) -> bool:
    """Whether a value describes one input: an `Input`, Model Optimizer's InputCutInfo, or a tuple that begins with a
    name.
    """
    if _is_tuple(value):
        named = len(value) > 1 and isinstance(value[0], str)
        return named and not all(isinstance(each, str | int) or each is None for each in value[1:])
    return hasattr(value, "name") and hasattr(value, "shape") and not hasattr(value, "dtype")


def _is_shape(value: Any) -> bool:
    if isinstance(value, list) or _is_tuple(value):
        dimensions = list(cast("Sequence[Any]", value))
        if dimensions and any(all(isinstance(each, kind) for each in dimensions) for kind in (str, tuple)):
            # A list of input names, or a list of shapes.
            return False
        return all(each is None or isinstance(each, str | int) or _is_dimension(each) for each in dimensions)
    return type(value).__name__ in ("PartialShape", "Shape", "TensorShape")


def _is_dimension(each: Any) -> bool:
    if _is_tuple(each):
        return len(each) == 2 and all(isinstance(bound, int) for bound in each)
    return type(each).__name__ == "Dimension" or (hasattr(each, "__index__") and not getattr(each, "shape", ()))


def _is_type(value: Any) -> bool:
    return isinstance(value, type) or type(value).__name__ in ("Type", "DType") or type(value).__module__.startswith("numpy.dtypes")


def _item(value: Any) -> InputItem:
    if isinstance(value, str):
        return input_item(value)
    if _is_shape(value):
        return InputItem(shape=shape_of(value))
    if _is_type(value):
        return InputItem(element=_element(value))
    if _is_tuple(value):
        return _named(value[0], tuple(value[1:])) if value and isinstance(value[0], str) else _named("", value)
    if not _is_item(value):
        raise ValueError(f"{value!r} is not an input: it is a text, a shape, an element type or a moir.Input")
    return _of_fields(value.name or "", value)


def _of_fields(name: str, value: Any) -> InputItem:
    return _built(name, value.shape, getattr(value, "type", None), getattr(value, "value", None))


def _named(name: str, value: Any) -> InputItem:
    """The input item for a name and what a mapping has for it: a shape, a type, a tuple of both, or a value."""
    if _is_shape(value):
        return _built(name, value, None, None)
    if _is_tuple(value):
        shape = next((each for each in value if _is_shape(each)), None)
        types = [each for each in value if each is not None and each is not shape]
        if len(types) > 1:
            raise ValueError(f"{value!r} is not an input: a tuple has a name, a shape and an element type")
        return _built(name, shape, types[0] if types else None, None)
    if isinstance(value, str):
        described = input_item(value if value[:1] in "[{-" else f"{{{value}}}")
        return InputItem(_place(name), described.shape, described.element, described.value, described.is_scalar)
    if _is_type(value):
        return _built(name, None, value, None)
    return _of_fields(name, value) if _is_item(value) else _built(name, None, None, value)


def _built(name: str, shape: Any, element: Any, value: Any) -> InputItem:
    flat, is_scalar, dimensions, kind = None, False, None if shape is None else shape_of(shape), _element(element)
    if value is not None:
        import numpy as np

        array = np.asarray(value)
        if array.dtype.kind not in "biufOUST" or not all(isinstance(each, bool | int | float | str) for each in array.ravel().tolist()):
            raise ValueError(f"{value!r} is not a value of an input: it is a number, a text, or an array of them")
        flat, is_scalar = tuple(array.ravel().tolist()), array.ndim == 0
        if hasattr(value, "dtype"):
            # A list says neither: [1, 2] is also a value for a tensor of floats, or of the shape [2, 1].
            dimensions = tuple(Dimension(size, size) for size in array.shape) if dimensions is None else dimensions
            kind = kind or element_type(array.dtype.name)
    return InputItem(_place(name), dimensions, kind, flat, is_scalar)


def _place(name: str) -> Place:
    """The designation that consists of a name in a Python value, where commas and brackets are part of the name."""
    input_place = place(name)
    return Place(name, is_exact=True) if not input_place.is_exact and re.search(r"[\[\]{},'\"]|->|^\s|\s$", name) else input_place


def shape_of(value: Any) -> tuple[Dimension, ...]:
    """The dimensions that a Python value describes. Raises ValueError for a value that is not a shape."""
    if isinstance(value, str):
        return parse_shape(value.strip().removeprefix("[").removesuffix("]"))
    if type(value).__name__ == "TensorShape":
        value = value.as_list()
    elif type(value).__name__ in ("PartialShape", "Shape"):
        return parse_shape(str(value).strip("[]{}"))
    return tuple(map(_dimension, value))


def _dimension(value: Any) -> Dimension:
    if value is None:
        return ANY
    if _is_tuple(value):
        low, high = value
        return parse_dimension(f"{low}..{'' if high < 0 else high}")
    return parse_dimension(str(value))


def _element(value: Any) -> str:
    """The name in the IR of the element type that a Python value describes; empty for None."""
    if value is None or value == "":
        return ""
    if isinstance(value, str):
        return element_type(value)
    name = getattr(value, "name", None) or getattr(value, "__name__", "")
    # OpenVINO's Type prints as <Type: 'float32'>.
    match = re.search(r"'(\w+)'", str(value)) if type(value).__name__ == "Type" else None
    return element_type(match[1] if match else str(name))
