"""What a schema of ONNX says about the node that is being drawn: element types, operands, attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from onnx import TensorProto, defs, helper

from tests.fuzz.draw import Array, Draw, NoCase

Schema = defs.OpSchema
Values = dict[str, Any]
"""What a recipe draws: arrays, numbers and lists by the name of an operand or an attribute.

A number or a list under the name of an operand becomes an array of its element type; a list under the name of a variadic
operand is its members. Names that the version of the operation does not have are dropped, so that a recipe serves
versions that take something as an attribute and versions that take it as an operand. Under OUTPUTS is the number of
outputs of an operation with any number; optional outputs are left out then.
"""

OUTPUTS = "*outputs"


class Required:
    """An optional operand that must be given, because of what else was drawn.

    Args:
        value: the operand.
    """

    def __init__(self, value: Any) -> None:
        self.value = value


Recipe = Callable[[Draw, "Signature"], Values]
_RECIPES: dict[str, Recipe] = {}


def recipe(*names: str) -> Callable[[Recipe], Recipe]:
    """Register a function that draws operands and attributes of operations."""

    def register(function: Recipe) -> Recipe:
        for name in names:
            assert name not in _RECIPES, name
            _RECIPES[name] = function
        return function

    return register


def recipe_of(name: str) -> Recipe | None:
    """What draws an operation; None if nothing was written for it."""
    return _RECIPES.get(name)


@cache
def histories(domain: str = "") -> dict[str, list[Schema]]:
    """The versions of each operation of a domain, oldest first; experimental and abandoned ones are left out."""
    results: dict[str, list[Schema]] = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == domain and schema.support_level == Schema.SupportType.COMMON and not schema.deprecated:
            results.setdefault(schema.name, []).append(schema)
    return {name: sorted(each, key=lambda schema: schema.since_version) for name, each in sorted(results.items())}


@cache
def versions_of(domain: str) -> int:
    """The newest version of a domain."""
    return max(schema.since_version for history in histories(domain).values() for schema in history)


INEXPRESSIBLE = frozenset(
    {
        *(TensorProto.COMPLEX64, TensorProto.COMPLEX128, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2FNUZ),
        *(number for name, number in TensorProto.DataType.items() if name in ("INT2", "FLOAT6E2M3", "FLOAT6E3M2")),
    }
)
"""Element types that an IR does not have: a refusal is all that can be done, so they are rarely drawn."""


def data_type(text: str) -> int | None:
    """The number of a type such as `tensor(float)`; None for a type that is not a tensor."""
    if not text.startswith("tensor("):
        return None
    return TensorProto.DataType.Value(text[7:-1].upper())


class Signature:
    """One version of an operation, with an element type for each of its type parameters.

    Args:
        draw: chooses the types: mostly f32 where it is legal.
        schema: the version.
        opset: the operator set the model imports.
    """

    def __init__(self, draw: Draw, schema: Schema, opset: int) -> None:
        self.schema = schema
        self.name = schema.name
        self.version = schema.since_version
        self.opset = opset
        self.inputs = {parameter.name: parameter for parameter in schema.inputs}
        self.types: dict[str, int] = {}
        for constraint in schema.type_constraints:
            tensors = [number for number in map(data_type, constraint.allowed_type_strs) if number is not None]
            if tensors:
                common = TensorProto.FLOAT in tensors and draw.chance(0.5)
                expressible = [number for number in tensors if number not in INEXPRESSIBLE or draw.chance(0.02)] or tensors
                self.types[constraint.type_param_str] = TensorProto.FLOAT if common else draw.one_of(sorted(expressible))

    def takes(self, name: str) -> bool:
        """Whether there is an operand or attribute of a name."""
        return name in self.inputs or name in self.schema.attributes

    def data_type(self, name: str) -> int:
        """The ONNX data type of an operand. Raises NoCase if it is not a tensor."""
        text = self.inputs[name].type_str
        result = self.types.get(text) or data_type(text)
        if not result:
            raise NoCase(f"{name} is {text}")
        return result

    def dtype(self, name: str | None = None) -> np.dtype[Any]:
        """The element type of an operand, of the first one by default."""
        return np.dtype(helper.tensor_dtype_to_np_dtype(self.data_type(next(iter(self.inputs)) if name is None else name)))

    def use(self, name: str, dtype: Any) -> None:
        """Set the element type of an operand and of all of its type parameter. Raises NoCase if it is not legal."""
        number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        text = self.inputs[name].type_str
        if text in self.types:
            allowed = next(each for each in self.schema.type_constraints if each.type_param_str == text).allowed_type_strs
            if number not in map(data_type, allowed):
                raise NoCase(f"{name} is never of {dtype}")
            self.types[text] = number

    def array(self, name: str, value: Any) -> Array:
        """A drawn value as an operand."""
        return value if isinstance(value, np.ndarray) else np.asarray(value, dtype=self.dtype(name))
