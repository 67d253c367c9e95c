"""Whether a difference is one of rounding: of results that the reference itself does not keep under small changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import numpy_helper

from tests.fuzz.comparison import tolerances
from tests.fuzz.draw import Array

REPETITIONS = 8
CHANGES = {np.dtype(np.float32): 1.5e-6, np.dtype(np.float16): 2e-3, np.dtype(np.float64): 1.5e-6}
"""The largest relative change of the elements of a value: that of a few operations that round otherwise."""

UNDERFLOWING = frozenset(("Celu", "Elu", "Erf", "Exp", "Gelu", "HardSwish", "Mish", "Selu", "Sigmoid", "Softmax", "Softplus", "Tanh"))
"""Operations whose results are off by a part of 1, not of themselves: numbers below that may be 0."""

FACTOR = 1.5
"""How much larger than the differences of a few repetitions another one may be."""


def moved(array: Array, seed: int) -> Array:
    """An array of floats, each multiplied by a number near 1; any other array as it is."""
    if array.dtype not in CHANGES:
        return array
    return np.asarray(array * _factors(array, seed, np.random.default_rng(seed)), array.dtype)


def _factors(array: Array, seed: int, random: np.random.Generator) -> Array:
    """Numbers near 1: all larger, all smaller, then some of each, so that numbers between two levels go to either one."""
    signs = (1.0, -1.0)[seed] if seed < 2 else random.choice((-1.0, -0.5, 0.0, 0.5, 1.0), size=array.shape)
    return np.broadcast_to(1 + CHANGES[array.dtype] * signs, array.shape)


def changed(model: onnx.ModelProto, arrays: Mapping[str, Array], seed: int) -> onnx.ModelProto:
    """A model in which each float value, also within bodies, is multiplied by numbers near 1.

    Args:
        arrays: the values of the graph itself, by name.
    """
    random = np.random.default_rng(seed)
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    nodes = list(graph.node)
    del graph.node[:]
    renamed: dict[str, str] = {}
    for node in nodes:
        for index, name in enumerate(node.input):
            node.input[index] = renamed.get(name, name)
        graph.node.append(node)
        for name in node.output:
            array = arrays.get(name)
            if array is None or array.dtype not in CHANGES:
                continue
            factors = _factors(array, seed, random)
            noise, other = f"{name}_noise", f"{name}_changed"
            graph.initializer.append(numpy_helper.from_array(np.asarray(factors).astype(array.dtype), noise))
            graph.node.append(onnx.helper.make_node("Mul", [name, noise], [other]))
            # Kernels are off by a part of their largest number, or of 1.
            largest = float(np.max(np.abs(array))) if array.size and np.isfinite(array).all() else 0.0
            part = max(largest, 1.0) if node.op_type in UNDERFLOWING else largest
            term = ((factors - 1) * part / 2).astype(array.dtype)
            graph.initializer.append(numpy_helper.from_array(term, f"{name}_term"))
            graph.node.append(onnx.helper.make_node("Add", [other, f"{name}_term"], [f"{name}_moved"]))
            other = f"{name}_moved"
            renamed[name] = other
    for each in graph.output:
        each.name = renamed.get(each.name, each.name)
    return result


def is_rounding(results: Sequence[Array], expected: Sequence[Array], others: Sequence[Sequence[Array]]) -> bool:
    """Whether no element differs by more than the reference does under small changes.

    Args:
        results: what is compared.
        expected: what the reference computes.
        others: what it computes of changed models.
    """
    for index, (actual, wanted) in enumerate(zip(results, expected, strict=True)):
        if actual.shape != wanted.shape or actual.dtype != wanted.dtype:
            return False
        if not wanted.size:
            continue
        exact = wanted.astype(np.float64)
        spread = np.zeros(wanted.shape)
        for each in others:
            if each[index].shape != wanted.shape:
                return True
            spread = np.maximum(spread, np.abs(each[index].astype(np.float64) - exact))
        relative, absolute = tolerances(wanted)
        # Where a level or an index changes, others of the same magnitude may.
        allowed = np.maximum(FACTOR * spread, absolute + relative * np.abs(exact))
        if not bool(np.all(np.abs(actual.astype(np.float64) - exact) <= allowed)):
            return False
    return True
