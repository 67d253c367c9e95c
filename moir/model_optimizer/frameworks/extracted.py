"""One attribute of a node by Model Optimizer's name: where it is read from, and what setting it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.ir import Operation


@dataclass(frozen=True)
class Extracted:
    """One attribute: its property, its default (None: absent), and the conversion of its value.

    With `of` it is what that function computes of the operation; such an attribute has no property. What an extension
    sets is converted by `back` to the value of the property, or by `write` to the values of several properties.
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
    """A list of integers."""
    return np.array(value, dtype=np.int64).reshape(-1)
