"""Operands, required attributes and defaults of operations according to OpenVINO's Python interface.

They are found by calling the functions of the interface with a recording node factory.
"""

from __future__ import annotations

import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import openvino
from openvino.utils import node_factory

NEWEST = 17
"""The newest operation set of the runtime."""


class Recorded(Exception):
    """The operation that a function of the Python interface requested from the node factory."""

    def __init__(self, kind: str, attributes: dict[str, Any]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.attributes = attributes
        self.required: frozenset[str] = frozenset()


def _record(_factory: Any, kind: str, _operands: Any = None, attributes: dict[str, Any] | None = None) -> None:
    raise Recorded(kind, attributes or {})


STAND_INS: Sequence[Mapping[str, Any]] = (
    {"bool": True, "int": 11, "float": 11.0, "str": "first", "ints": [11], "floats": [11.0], "strs": ["first"]},
    {"bool": False, "int": 12, "float": 12.0, "str": "second", "ints": [12], "floats": [12.0], "strs": ["second"]},
)
"""Two arguments for each type of parameter: an attribute that differs between the two calls depends on the argument."""


def stand_in(hint: str, values: Mapping[str, Any]) -> Any:
    """An argument for a parameter, by its type annotation."""
    if "Node" in hint:
        node = openvino.op.Parameter(openvino.Type.f32, openvino.PartialShape([2, 3]))
        return [node, node] if "list[" in hint.lower() else node
    for element, name in (("str", "strs"), ("int", "ints"), ("float", "floats")):
        if f"list[{element}" in hint.lower():
            return values[name]
    return next((values[name] for name in ("bool", "int", "float") if name in hint), values["str"])


def recorded(function: Callable[..., Any], values: Mapping[str, Any]) -> Recorded | None:
    """The operation that a function of the Python interface creates from its required arguments.

    Arguments are the required parameters, and the required entries of its `attrs`.
    """
    hints = {name: str(hint) for name, hint in typing.get_type_hints(inspect.unwrap(function)).items()}
    entries: dict[str, Any] = {}
    required: list[Any] = []
    others: dict[str, Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.default is inspect.Parameter.empty:
            required.append(entries if hints.get(name) == "<class 'dict'>" else stand_in(hints.get(name, ""), values))
        elif (name, parameter.default) in OPTIONAL_IN_NAME:
            others[name] = stand_in(hints.get(name, ""), values)
    while True:
        try:
            function(*required, **others)
        except Recorded as call:
            call.required = frozenset(entries)
            return call
        except Exception as error:
            if asked := re.search(r'missing \w+ operator required attribute "(\w+)"', str(error)):
                entries[asked[1]] = values["int"]
            elif (asked := re.search(r'attribute "(\w+)" value must by of type .*numpy\.(\w+)', str(error))) and asked[2] in NUMBERS:
                entries[asked[1]] = NUMBERS[asked[2]]
            else:
                return None
        else:
            return None


NUMBERS = {"floating": np.float32(11), "integer": np.int64(11), "unsignedinteger": np.uint64(11), "str_": "first"}
"""Values for entries of `attrs` that the interface requires to be of an abstract type of numpy."""

OPTIONAL_IN_NAME = {("output_roi", None), ("spatial_scale", None), ("fill_mode", None)}
"""Parameters with the default None that the functions nevertheless require."""


def operand_counts(function: Callable[..., Any]) -> tuple[int, int | None]:
    """The least and the greatest number of operands in the signature of a function; the latter is None if there is no
    limit.
    """
    hints = {name: str(hint) for name, hint in typing.get_type_hints(inspect.unwrap(function)).items()}
    least = greatest = 0
    is_limited = True
    for name, parameter in inspect.signature(function).parameters.items():
        hint = hints.get(name, "")
        if "Node" in hint and name != "return" and (name, parameter.default) not in OPTIONAL_IN_NAME:
            greatest += 1
            least += parameter.default is inspect.Parameter.empty
            is_limited = is_limited and "list[" not in hint.lower()
    return least, greatest if is_limited else None


def functions() -> Iterator[tuple[int, Callable[..., Any]]]:
    """The functions of the Python interface that create operations, with their operation sets, oldest sets first."""
    for number in range(1, NEWEST + 1):
        module = importlib.import_module(f"openvino.opset{number}")
        for name, function in sorted(vars(module).items()):
            if callable(function) and not name.startswith("_"):
                unwrapped = inspect.unwrap(function)
                if getattr(unwrapped, "__module__", "") == f"{module.__name__}.ops" and inspect.isfunction(unwrapped):
                    yield number, function


@dataclass(frozen=True)
class Call:
    """The operation that a function of the Python interface creates.

    Args:
        opset: the operation set the function is defined for.
        kind: the kind of operation.
        operands: least and greatest number of operands; None if there is no limit.
        defaults: the attributes that the operation gets without arguments; None where an argument is required.
    """

    opset: str
    kind: str
    operands: tuple[int, int | None]
    defaults: Mapping[str, Any]


def calls() -> list[Call]:
    """The operations that the functions of the Python interface create, oldest operation sets first."""
    created: list[Call] = []
    create = node_factory.NodeFactory.create
    node_factory.NodeFactory.create = _record  # pyright: ignore[reportAttributeAccessIssue]
    try:
        for number, function in functions():
            first, second = (recorded(function, values) for values in STAND_INS)
            if first is None or second is None:
                continue
            defaults = {
                name: None if name in first.required or value != second.attributes[name] else value
                for name, value in first.attributes.items()
            }
            created.append(Call(f"opset{number}", first.kind, operand_counts(function), defaults))
    finally:
        node_factory.NodeFactory.create = create
    return created
