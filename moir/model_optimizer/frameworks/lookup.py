"""The view of a framework, by the name of its dialect, and the names of its kinds.

Values that are computed from the views of all frameworks are cached by `views()`, so that frameworks can be added
later.
"""

from __future__ import annotations

from functools import cache
from typing import TypeAlias

from xdsl.ir import Operation

from moir.dialects.framework import decode_kind
from moir.dialects.names import FRAMEWORK_OPERATION
from moir.dialects.properties import value_of
from moir.frameworks import FRAMEWORKS, load
from moir.model_optimizer.frameworks.view import FrameworkView

Views: TypeAlias = tuple[tuple[str, str | None], ...]
"""Pairs of the name of a dialect and the place (`module:name`) of its view, None without one."""

NO_VIEW = FrameworkView()
"""The view of a framework whose record names none, and of dialects that belong to no framework."""

SHARED_NAMES: dict[str, str] = {
    "Relu": "ReLU",
    "Relu6": "ReLU6",
    "Softmax": "SoftMax",
    "Softplus": "SoftPlus",
    "Softsign": "SoftSign",
    "Neg": "Negative",
    "Ceil": "Ceiling",
    "Shape": "ShapeOf",
    "LeakyRelu": "LeakyReLU",
    "Sqrt": "AttributedPower Pow",
    "LRN": "AttributedLRN",
    "Unpack": "Unpack AttributedSplit",
}
"""Kind -> names, separated by spaces, in every framework."""


def place_of_view(dialect: str) -> str | None:
    """The place of the view of a dialect, as `module:name`; None if it has none."""
    framework = FRAMEWORKS.get(dialect)
    return None if framework is None else framework.view


def views() -> Views:
    """The dialects of the registered frameworks, each with the import path of its `FrameworkView`, None without one."""
    return tuple((name, each.view) for name, each in FRAMEWORKS.items())


@cache
def _loaded(place: str) -> FrameworkView:
    return load(place)


def view_of(dialect: str) -> FrameworkView:
    """The view of a dialect, which is imported when it is first asked for."""
    place = place_of_view(dialect)
    return NO_VIEW if place is None else _loaded(place)


def view_of_operation(op: Operation) -> FrameworkView:
    """The view of the framework to whose dialect an operation belongs now."""
    return view_of(op.name.partition(".")[0])


def original_of(op: Operation) -> tuple[str, str]:
    """The dialect and the kind that an operation had as a node of the model file, before extensions changed it."""
    given = op.attributes.get(FRAMEWORK_OPERATION)
    dialect, _, kind = (op.name if given is None else str(value_of(given))).partition(".")
    return dialect, decode_kind(kind)


def names_of_kind(framework: str, kind: str) -> tuple[str, ...]:
    """The names of the operations of a kind of a framework, then the kind itself; a domain is not part of `kind`."""
    listed = view_of(framework).names.get(kind) or SHARED_NAMES.get(kind) or kind
    return tuple(dict.fromkeys((*listed.split(), kind)))
