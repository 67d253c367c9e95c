"""Single operations of `tf.raw_ops`, with random attributes, element types and shapes."""

from __future__ import annotations

from fnmatch import fnmatch
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.tensorflow.graph_model import graph_case
from tests.fuzz.tensorflow.recipe import COMMON, RECIPES

FAMILIES = ("elementwise", "reduction", "movement", "indexing", "matrix", "image")
"""Files of recipes, in the order in which their operations are drawn."""


@cache
def element_types(kind: str, attribute: str) -> list[np.dtype[Any]]:
    """The element types for which TensorFlow has a kernel on the CPU."""
    found: set[int] = set()
    for kernel in kernels.get_registered_kernels_for_op(kind).kernel:
        if kernel.device_type != "CPU":
            continue
        constraints = [each for each in kernel.constraint if each.name == attribute]
        found |= (
            set(constraints[0].allowed_values.list.type) if constraints else {tf.as_dtype(name).as_datatype_enum for name in COMMON.split()}
        )
    names = [tf.as_dtype(number).name for number in sorted(found)]
    chosen = [name for name in [*COMMON.split(), "complex64", "uint32"] if name in names]
    return [np.dtype(name) for name in chosen]


LIMIT = 1 << 22
"""The largest integers of 32 bits that are drawn: many operations of the CPU plugin compute larger ones in f32."""


def within_limits(array: Array) -> Array:
    """The numbers of an array that the CPU plugin can represent: f64 without infinities, i32 that are exact in f32."""
    if array.dtype == np.float64:
        return np.where(np.isinf(array), np.copysign(1e6, array), array)
    if array.dtype.kind in "iu" and array.dtype.itemsize >= 4:
        return np.clip(array, max(-LIMIT, int(np.iinfo(array.dtype).min)), LIMIT)
    return array


def single_operation(draw: Draw, only: str) -> Case:
    """A graph of one operation."""
    for family in FAMILIES:
        import_module(f"tests.fuzz.tensorflow.recipes.{family}")
    kind = draw.subject([name for name in RECIPES if fnmatch(name, only)])
    function, attribute = RECIPES[kind]
    types = element_types(kind, attribute)
    if not types:
        raise NoCase("no kernel on the CPU")
    node = function(draw, draw.one_of(types))
    flat: dict[str, Array] = {}
    for name, value in node.operands.items():
        for index, array in enumerate(value if isinstance(value, list) else [value]):
            flat[f"{name}_{index}" if isinstance(value, list) else name] = within_limits(array)

    def build(**tensors: Any) -> Any:
        operands = {
            name: [tensors[f"{name}_{index}"] for index in range(len(value))] if isinstance(value, list) else tensors[name]
            for name, value in node.operands.items()
        }
        results = getattr(tf.raw_ops, kind)(**operands, **node.attributes)
        return results if node.results is None else list(results)[: node.results]

    renamed = {f"in_{name}": array for name, array in flat.items()}
    structural = [f"in_{name}" for name in node.structural]
    return graph_case(draw, kind, lambda **tensors: build(**{name[3:]: value for name, value in tensors.items()}), renamed, structural)
