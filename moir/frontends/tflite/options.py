"""Options of operators -> attributes.

    Conv2DOptions {padding: SAME, stride_w: 2, …}  ->  {padding = "SAME", stride_w = 2, …}

The names are those of the schema. An absent field has the default of the schema, and so has an absent table. Numbers
that stand for element types become element types; numbers of other enumerations become the names of their values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from moir.dialects.data import Array
from moir.dialects.properties import attribute_of
from moir.errors import ModelFileError
from moir.frontends.numbers import shortest
from moir.frontends.tflite.flatbuffer import ModelFile, integers, text
from moir.frontends.tflite.tensors import ELEMENTS

_ELEMENT_FIELDS = frozenset(
    ("in_data_type", "out_data_type", "output_type", "out_type", "idx_out_type", "key_dtype", "value_dtype", "quantized_bias_type")
)
"""Fields that are element types."""

_ENUMERATIONS: Mapping[str, str] = {
    "padding": "Padding",
    "fused_activation_function": "ActivationFunctionType",
    "mode": "MirrorPadMode",
    "weights_format": "FullyConnectedOptionsWeightsFormat",
    "combiner": "CombinerType",
    "kernel_type": "LSTMKernelType",
    "comparison_direction": "StablehloComparisonDirection",
    "compare_type": "StablehloComparisonType",
    "reduce_function": "ReduceWindowFunction",
    "algorithm": "RngAlgorithm",
}
"""Field -> the class of its enumeration, for fields whose name differs from that of the class."""

_NOT_FIELDS = re.compile(r"GetRoot|Init$|_|.*(?:BufferHasIdentifier|Length|AsNumpy|IsNone)$")


@cache
def _fields(options: str) -> list[tuple[str, str, bool]]:
    """The fields of a FlatBuffers table: the name of the getter, the name of the attribute, and whether it is a
    vector.
    """
    class_ = getattr(import_module(f"tflite.{options}"), options)
    methods = [name for name in dir(class_) if not _NOT_FIELDS.match(name)]
    return [(name, snake_case(name), hasattr(class_, f"{name}Length")) for name in methods]


def snake_case(name: str) -> str:
    """The name of a field in the schema: DilationWFactor -> dilation_w_factor."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


@cache
def _names_of_values(enumeration: str) -> dict[int, str]:
    """The names of the values of an enumeration, by number.

    If names begin with that of the enumeration, that part is removed.
    """
    class_: Any = getattr(import_module(f"tflite.{enumeration}"), enumeration)
    prefix = f"{snake_case(enumeration).upper()}_"
    return {getattr(class_, name): name.removeprefix(prefix) for name in dir(class_) if not name.startswith("_")}


def attributes_of(file: ModelFile, operator: Any, kind: str) -> dict[str, Attribute]:
    """The attributes of a builtin operator.

    Raises ModelFileError for options that the installed schema does not have, or whose fields are damaged.
    """
    with file.damage(f"the options of a {kind}"):
        for union, number, table in (
            ("BuiltinOptions", operator.BuiltinOptionsType(), operator.BuiltinOptions()),
            ("BuiltinOptions2", operator.BuiltinOptions2Type(), operator.BuiltinOptions2()),
        ):
            if number == 0 or table is None:
                continue
            name = _names_of_values(union).get(number)
            if name is None:
                raise file.error(f"options {number} of a {kind} are unknown", "a newer version of the package tflite may know them")
            return _attributes(file, name, table)
    return {}


def _attributes(file: ModelFile, name: str, table: Any) -> dict[str, Attribute]:
    options = getattr(import_module(f"tflite.{name}"), name)()
    options.Init(table.Bytes, table.Pos)
    attributes: dict[str, Attribute] = {}
    for method, attribute, is_list in _fields(name):
        value = _list(file, options, method) if is_list else getattr(options, method)()
        converted = _attribute(attribute, value)
        if converted is not None:
            attributes[attribute] = converted
    return attributes


def _list(file: ModelFile, options: Any, method: str) -> list[Any]:
    """The values of a vector field, the getter of which is `method`: numbers, or tables; empty if it is absent."""
    if hasattr(options, f"{method}AsNumpy"):
        values: Any = getattr(options, f"{method}AsNumpy")()
        if isinstance(values, np.ndarray) and cast("Array", values).dtype.kind == "f":
            return [shortest(each) for each in cast("Array", values).tolist()]
        return integers(values)
    return file.vector(getattr(options, f"{method}Length")(), getattr(options, method))


def _attribute(name: str, value: Any) -> Attribute | None:
    """The attribute of a field; None for a field that is a table (only options of StableHLO have such fields)."""
    if isinstance(value, bool):
        return attribute_of(value)
    if isinstance(value, int):
        return _number(name, value)
    if isinstance(value, float):
        return attribute_of(shortest(value))
    if isinstance(value, bytes):
        return attribute_of(text(value))
    if isinstance(value, list):
        entries = cast("list[Any]", value)
        return attribute_of(entries) if all(isinstance(each, int | float) for each in entries) else None
    return None


def _number(name: str, value: int) -> Attribute | None:
    """The attribute of an integer field: an element type, the name of a value of an enumeration, or the integer.

    Returns None for an element type that the operation sets do not have; raises ModelFileError for a value that an
    enumeration lacks.
    """
    if name in _ELEMENT_FIELDS:
        return ELEMENTS.get(value)
    if name not in _ENUMERATIONS:
        return attribute_of(value)
    spelled = _names_of_values(_ENUMERATIONS[name]).get(value)
    if spelled is None:
        raise ModelFileError(f"the value {value} of {name} does not exist", hint="the file is damaged, or newer than the package tflite")
    return attribute_of(spelled)
