"""One attribute of a node by Model Optimizer's name: the properties from which it is read and computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation

from moir.model_optimizer.values.python_values import is_true


@dataclass(frozen=True)
class Extracted:
    """The record of an attribute: the property from which it is read, its default (None: absent), and the conversion of
    its value.

    If `of` is given, this function computes it from the operation; such an attribute has no property. A value that an
    extension sets is converted by `back` to the value of the property, or by `write` to the values of several
    properties.
    """

    source: str
    default: Any = None
    form: Callable[[Any], Any] | None = None
    of: Callable[[Operation], Any] | None = None
    back: Callable[[Any], Any] | None = None
    write: Callable[[Operation, Any], Mapping[str, Any]] | None = None


def as_bytes(value: str | bytes) -> bytes:
    """Text as bytes, as in TensorFlow's messages."""
    return value if isinstance(value, bytes) else value.encode()


def as_integers(value: Any) -> Any:
    """An integer or integers as an array of 64-bit integers."""
    return np.array(value, dtype=np.int64).reshape(-1)


def integers(source: str, default: Any = None) -> Extracted:
    """The record of an attribute `source` whose value is a list of integers."""
    return Extracted(source, default, as_integers, back=as_integers)


def flag(source: str, default: bool) -> Extracted:
    """The record of an attribute `source` whose value is a boolean."""
    return Extracted(source, default, bool, back=is_true)


def number_as_flag(source: str, default: bool) -> Extracted:
    """The record of an attribute `source` whose value is a boolean, stored as 0 or 1 in the framework's file."""
    return Extracted(source, default, bool, back=lambda value: int(is_true(value)))


def fixed(value: Any) -> Extracted:
    """The record of an attribute that has the value `value` for all operations of a kind."""
    return Extracted("", value)


def computed(function: Callable[[Operation], Any]) -> Extracted:
    """The record of an attribute whose value a function computes from the operation."""
    return Extracted("", of=function)


def power_of(exponent: float) -> dict[str, Extracted]:
    """The records of the attributes of a power function with a fixed exponent, (x * scale + shift) ** power: `power`,
    `scale` 1 and `shift` 0.
    """
    return {"power": fixed(exponent), "scale": fixed(1.0), "shift": fixed(0.0)}


def by_kind(families: Mapping[str, Mapping[str, Extracted]]) -> dict[str, dict[str, Extracted]]:
    """Kind -> attributes, from a table whose keys list kinds, separated by spaces; a kind may be in several keys."""
    entries: dict[str, dict[str, Extracted]] = {}
    for kinds, attributes in families.items():
        for kind in kinds.split():
            entries.setdefault(kind, {}).update(attributes)
    return entries
