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


def outputs_of(given: Any) -> tuple[Place, ...]:
    """The designations of outputs in a text, or in a list of names. Raises ValueError for any other value."""
    if isinstance(given, str):
        return places(given)
    if not _is_sequence(given) or not all(isinstance(each, str) for each in given):
        raise ValueError(f"{given!r} is not a list of names")
    return tuple(map(_place, given))


def shapes_of(given: Any) -> tuple[tuple[Dimension, ...], ...]:
    """Shapes from a text, one shape, or a list of shapes. Raises ValueError for any other value."""
    if isinstance(given, str):
        return shapes(given)
    if isinstance(given, Mapping):
        raise ValueError(f"shapes by name are not a list of shapes; give them as input: input={given!r}")
    if _is_shape(given):
        return (shape_of(given),)
    return tuple(map(shape_of, given))


def _is_sequence(given: Any) -> bool:
    return isinstance(given, Sequence)


def _is_tuple(given: Any) -> bool:
    """Whether a value is a plain tuple, not a named one."""
    return isinstance(given, tuple) and not hasattr(cast("object", given), "_fields")


def _is_item(given: Any) -> bool:
    """Whether a value describes one input: an `Input`, Model Optimizer's InputCutInfo, or a tuple that begins with a
    name.
    """
    if _is_tuple(given):
        named = len(given) > 1 and isinstance(given[0], str)
        return named and not all(isinstance(each, str | int) or each is None for each in given[1:])
    return hasattr(given, "name") and hasattr(given, "shape") and not hasattr(given, "dtype")


def _is_shape(given: Any) -> bool:
    if isinstance(given, list) or _is_tuple(given):
        dimensions = list(cast("Sequence[Any]", given))
        if dimensions and any(all(isinstance(each, kind) for each in dimensions) for kind in (str, tuple)):
            # A list of input names, or a list of shapes.
            return False
        return all(each is None or isinstance(each, str | int) or _is_dimension(each) for each in dimensions)
    return type(given).__name__ in ("PartialShape", "Shape", "TensorShape")


def _is_dimension(each: Any) -> bool:
    if _is_tuple(each):
        return len(each) == 2 and all(isinstance(bound, int) for bound in each)
    return type(each).__name__ == "Dimension" or (hasattr(each, "__index__") and not getattr(each, "shape", ()))


def _is_type(given: Any) -> bool:
    return isinstance(given, type) or type(given).__name__ in ("Type", "DType") or type(given).__module__.startswith("numpy.dtypes")


def _item(given: Any) -> InputItem:
    if isinstance(given, str):
        return input_item(given)
    if _is_shape(given):
        return InputItem(shape=shape_of(given))
    if _is_type(given):
        return InputItem(element=_element(given))
    if _is_tuple(given):
        return _named(given[0], tuple(given[1:])) if given and isinstance(given[0], str) else _named("", given)
    if not _is_item(given):
        raise ValueError(f"{given!r} is not an input: it is a text, a shape, an element type or a moir.Input")
    return _of_fields(given.name or "", given)


def _of_fields(name: str, given: Any) -> InputItem:
    return _built(name, given.shape, getattr(given, "type", None), getattr(given, "value", None))


def _named(name: str, given: Any) -> InputItem:
    """The input item for a name and what a mapping has for it: a shape, a type, a tuple of both, or a value."""
    if _is_shape(given):
        return _built(name, given, None, None)
    if _is_tuple(given):
        shape = next((each for each in given if _is_shape(each)), None)
        types = [each for each in given if each is not None and each is not shape]
        if len(types) > 1:
            raise ValueError(f"{given!r} is not an input: a tuple has a name, a shape and an element type")
        return _built(name, shape, types[0] if types else None, None)
    if isinstance(given, str):
        described = input_item(given if given[:1] in "[{-" else f"{{{given}}}")
        return InputItem(_place(name), described.shape, described.element, described.value, described.is_scalar)
    if _is_type(given):
        return _built(name, None, given, None)
    return _of_fields(name, given) if _is_item(given) else _built(name, None, None, given)


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


def shape_of(given: Any) -> tuple[Dimension, ...]:
    """The dimensions that a Python value describes. Raises ValueError for a value that is not a shape."""
    if isinstance(given, str):
        return parse_shape(given.strip().removeprefix("[").removesuffix("]"))
    if type(given).__name__ == "TensorShape":
        given = given.as_list()
    elif type(given).__name__ in ("PartialShape", "Shape"):
        return parse_shape(str(given).strip("[]{}"))
    return tuple(map(_dimension, given))


def _dimension(given: Any) -> Dimension:
    if given is None:
        return ANY
    if _is_tuple(given):
        low, high = given
        return parse_dimension(f"{low}..{'' if high < 0 else high}")
    return parse_dimension(str(given))


def _element(given: Any) -> str:
    """The name in the IR of the element type that a Python value describes; empty for None."""
    if given is None or given == "":
        return ""
    if isinstance(given, str):
        return element_type(given)
    name = getattr(given, "name", None) or getattr(given, "__name__", "")
    # OpenVINO's Type prints as <Type: 'float32'>.
    match = re.search(r"'(\w+)'", str(given)) if type(given).__name__ == "Type" else None
    return element_type(match[1] if match else str(name))
