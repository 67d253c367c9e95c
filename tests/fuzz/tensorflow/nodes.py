"""Single operations of `tf.raw_ops`, with random attributes, element types and shapes."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.framework import kernels

from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.recipe_table import matching
from tests.fuzz.tensorflow.graph_model import Declare, declared, graph_case
from tests.fuzz.tensorflow.recipe import COMMON, NO_TYPE, RECIPES

FAMILIES = (
    "elementwise", "reduction", "movement", "indexing", "matrix", "image", "convolution", "detection", "quantization", "recurrent",
    "losses", "slicing", "signal", "sorting", "shape", "sparse", "random", "text", "lists",
    "linear_algebra",
)  # fmt: skip
"""Files of recipes."""


@cache
def element_types(kind: str, attribute: str) -> list[np.dtype[Any]]:
    """The element types for which TensorFlow has a kernel on the CPU."""
    if attribute == NO_TYPE:
        return [np.dtype(np.float32)]
    results: set[int] = set()
    for kernel in kernels.get_registered_kernels_for_op(kind).kernel:
        if kernel.device_type != "CPU":
            continue
        constraints = [each for each in kernel.constraint if each.name == attribute]
        results |= (
            set(constraints[0].allowed_values.list.type) if constraints else {tf.as_dtype(name).as_datatype_enum for name in COMMON.split()}
        )
    names = [tf.as_dtype(number).name for number in sorted(results)]
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


def kinds(only: str = "*") -> list[str]:
    """The operations that have a recipe and match a glob."""
    return matching(RECIPES, "tests.fuzz.tensorflow.recipes", FAMILIES, only)


def single_operation(draw: Draw, only: str) -> Case:
    """A graph of one operation."""
    kind = draw.subject(kinds(only))
    types = element_types(kind, RECIPES[kind][1])
    if not types:
        raise NoCase("no kernel on the CPU")
    return operation_case(draw, kind, draw.one_of(types))


def operation_case(draw: Draw, kind: str, dtype: np.dtype[Any], say: Declare = declared, **how: float) -> Case:
    """A graph of an operation for an element type; `say` and others as of `graph_case`."""
    node = RECIPES[kind][0](draw, dtype)
    flat: dict[str, Array] = {}
    for name, value in node.operands.items():
        for index, array in enumerate(value if isinstance(value, list) else [value]):
            flat[f"{name}_{index}" if isinstance(value, list) else name] = within_limits(array)

    def build(**tensors: Any) -> Any:
        operands = {
            name: [tensors[f"in_{name}_{index}"] for index in range(len(value))] if isinstance(value, list) else tensors[f"in_{name}"]
            for name, value in node.operands.items()
        }
        result = (node.function or getattr(tf.raw_ops, kind))(**operands, **node.attributes)
        results = result if node.results is None else list(result)[: node.results]
        return results if node.compared is None else tf.nest.map_structure(node.compared, results)

    structural = [f"in_{name}" for name in node.structural]
    fixed = [f"in_{name}" for name in (*node.structural, *node.fixed)]
    renamed = {f"in_{name}": array for name, array in flat.items()}
    return graph_case(draw, kind, build, renamed, structural, fixed, say, **how)
