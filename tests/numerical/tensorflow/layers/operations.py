"""Graphs around single operations of `tf.raw_ops`: every element type TensorFlow has a kernel for, ranks, modes.

What an operation's operands and attributes may be say the recipes of the fuzzer; here their choices are spread evenly over
a few variants of each operation, and no value is special.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import tensorflow as tf

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.even_draw import EvenDraw
from tests.fuzz.tensorflow.nodes import element_types, kinds, operation_case
from tests.fuzz.tensorflow.recipe import RECIPES
from tests.numerical.tensorflow.layers.case import Form, Layer

LEAST_VARIANTS = 8
"""Variants of an operation of few element types."""

VARIANTS_EACH = 1
"""Variants of each element type."""

ATTEMPTS = 30


def operation(kind: str, type_name: str, variant: int, form: Form) -> Case:
    """A graph of an operation. Raises NoCase if no attempt gives one that TensorFlow computes."""

    def say(_draw: Draw, array: Array, *, fixed: bool) -> list[int | None]:
        return list(array.shape) if form == "static" or fixed else [None] * array.ndim

    for attempt in range(ATTEMPTS):
        try:
            case = operation_case(EvenDraw(kind, variant, attempt), kind, np.dtype(type_name), say, computed=0.0)
            case.source.references()[0][1](case.inputs)
        except (NoCase, tf.errors.OpError):
            continue
        return case
    raise NoCase("TensorFlow computes no variant of it")


@cache
def operations() -> dict[str, Layer]:
    """All graphs by name, such as `Pad/float32/3`."""
    results: dict[str, Layer] = {}
    for kind in kinds():
        types = list(dict.fromkeys(type_.name for type_ in element_types(kind, RECIPES[kind][1])))
        each = max(VARIANTS_EACH, -(-LEAST_VARIANTS // max(1, len(types))))
        for index, type_name in enumerate(types):
            for variant in range(index * each, (index + 1) * each):
                results[f"{kind}/{type_name}/{variant}"] = Layer(
                    kind, lambda form, kind=kind, type_name=type_name, variant=variant: operation(kind, type_name, variant, form)
                )
    return results
