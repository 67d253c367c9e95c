"""What draws a node of TensorFlow: its operands and attributes for an element type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw


@dataclass
class Node:
    """Operands and attributes of a node.

    Args:
        operands: by the names that `tf.raw_ops` gives them; a list is an operand of several tensors.
        attributes: all others.
        structural: names of operands that say sizes or axes.
        results: how many of the results are compared; None for all.
        function: what is built from the operands instead of a call of `tf.raw_ops`, for operations on values that are no
            tensors; None for the call.
        compared: what is compared of the result, such as the shape of random numbers; None for the result itself.
        fixed: names of operands whose shapes are always said, as those of `structural` ones are: the runtime compiles the
            operation only if they are known ("Models that the plugin does not compile" in docs/plugin-faults.md).
    """

    operands: Mapping[str, Array | list[Array]]
    attributes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    structural: tuple[str, ...] = ()
    results: int | None = None
    function: Callable[..., Any] | None = None
    compared: Callable[[Any], Any] | None = None
    fixed: tuple[str, ...] = ()


Recipe = Callable[[Draw, "np.dtype[Any]"], Node]

COMMON = "float32 float32 float32 float16 float64 int32 int64 uint8 int8 int16 uint16 bool"
"""The element types that are drawn, the first ones more often."""

NO_TYPE = ""
"""Instead of the attribute that is the element type, for operations that have none: all their draws are given float32."""

RECIPES: dict[str, tuple[Recipe, str]] = {}
"""For each operation what draws it, and the attribute that is its element type."""


def recipe(kinds: str, attribute: str = "T") -> Callable[[Recipe], Recipe]:
    """Registers what draws some operations."""

    def register(function: Recipe) -> Recipe:
        for kind in kinds.split():
            RECIPES[kind] = function, attribute
        return function

    return register


def index_type(draw: Draw) -> Any:
    """The element type of indices."""
    return draw.one_of((np.int32, np.int64))
