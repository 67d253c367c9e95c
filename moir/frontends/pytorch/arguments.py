"""Arguments of nodes: values become operands, everything else properties, both by the names of the schema.

    {"name": "self", "arg": {"as_tensor": {"name": "x"}}},
    {"name": "size", "arg": {"as_sym_ints": [{"as_name": "n"}, {"as_int": 4}]}}
->  aten.view.default(%x, %n) {arguments = ["self", "size.0"], size = [0, 4]}

An operand in a list has the index after its name; in a list of integers a 0 stands in its place. Arguments about the
place and layout of memory (device, layout, memory_format, pin_memory) have no meaning in the IR and are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

from xdsl.ir import Attribute, SSAValue
from xdsl.utils.exceptions import VerifyException

from moir.dialects.properties import attribute_of
from moir.files.json_fields import Fields
from moir.frontends.pytorch.storages import ELEMENTS

IGNORED = frozenset(("as_device", "as_layout", "as_memory_format"))

_INFINITE = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}

ARGUMENTS = "arguments"
"""The property that has the names of the operands."""


class Arguments(NamedTuple):
    """The arguments of a node: its operands, their names, and its properties."""

    operands: list[SSAValue]
    names: list[str]
    properties: dict[str, Attribute]

    def add(self, name: str, value: SSAValue) -> None:
        """Add an operand."""
        self.operands.append(value)
        self.names.append(name)


def add_argument(arguments: Arguments, name: str, argument: Fields, value_of_name: Callable[[str], SSAValue]) -> None:
    """Add an argument, a mapping with exactly one key. Raises ModelFileError for any other form."""
    key, content = argument.only()
    if key in IGNORED or key == "as_none" or name == "pin_memory":
        return
    if key in ("as_tensor", "as_custom_obj"):
        arguments.add(name, value_of_name(argument.fields(key).text("name")))
    elif key == "as_optional_tensor":
        add_argument(arguments, name, argument.fields(key), value_of_name)
    elif key in ("as_tensors", "as_optional_tensors"):
        for index, entry in enumerate(argument.objects(key)):
            if key == "as_tensors":
                arguments.add(f"{name}.{index}", value_of_name(entry.text("name")))
            else:
                add_argument(arguments, f"{name}.{index}", entry, value_of_name)
    elif key in ("as_sym_int", "as_sym_float", "as_sym_bool"):
        symbolic = argument.fields(key)
        if "as_name" in symbolic.content:
            arguments.add(name, value_of_name(symbolic.text("as_name")))
        else:
            arguments.properties[name] = _constant(argument, symbolic.only()[1])
    elif key in ("as_sym_ints", "as_sym_floats", "as_sym_bools"):
        numbers: list[Any] = []
        for index, entry in enumerate(argument.objects(key)):
            if "as_name" in entry.content:
                arguments.add(f"{name}.{index}", value_of_name(entry.text("as_name")))
                numbers.append(0)
            else:
                numbers.append(entry.only()[1])
        arguments.properties[name] = _constant(argument, numbers)
    elif key == "as_scalar_type":
        element = ELEMENTS.get(content) if isinstance(content, int) else None
        if element is None:
            raise argument.error(f"the unknown element type {content!r}")
        arguments.properties[name] = element
    else:
        arguments.properties[name] = _constant(argument, content)


def _constant(argument: Fields, content: Any) -> Attribute:
    """The property of an argument that is a number, a complex one as two, a string, or a list of them.

    Raises ModelFileError for anything else.
    """
    if isinstance(content, str):
        content = _INFINITE.get(content, content)
    elif isinstance(content, list):
        items = cast("Sequence[Any]", content)
        content = [_INFINITE.get(item, item) if isinstance(item, str) else item for item in items]
    elif isinstance(content, dict):
        real, imaginary = (cast("dict[str, Any]", content).get(part) for part in ("real", "imag"))
        content = [real, imaginary]
    try:
        return attribute_of(content)
    except (TypeError, OverflowError, ValueError, VerifyException):
        raise argument.error(f"{content!r} is not an argument") from None
