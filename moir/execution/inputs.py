"""Random inputs for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import UsageError
from moir.execution.ports import TensorPort

BATCH, LENGTH, IMAGE = 1, 8, 64
"""Sizes of unknown dimensions, in elements: the first one; others; the last ones of inputs with four dimensions."""


def random_inputs(ports: Sequence[TensorPort], seed: int, shapes: Mapping[str, Sequence[int]] | None = None) -> dict[str, Array]:
    """Random arrays for the inputs of a model, always the same ones for the same seed.

    Floating-point numbers have a normal distribution, integers are 0 or 1, so that they are indices into anything.

    Args:
        ports: the inputs.
        seed: the seed.
        shapes: shapes by the names of inputs, in elements, -1 for a size that is left open.

    Raises UsageError for an input whose rank or element type is unknown, unless `shapes` has it.
    """
    generator = np.random.default_rng(seed)
    return {port.name: _random(port, generator, shapes or {}) for port in ports}


def _random(port: TensorPort, generator: np.random.Generator, shapes: Mapping[str, Sequence[int]]) -> Array:
    given = next((shapes[name] for name in port.names if name in shapes), port.shape)
    if given is None:
        raise UsageError(f"the rank of the input {port.name!r} is unknown", hint=f"say its shape: --input '{port.name}[1,8]'")
    shape = [size if size >= 0 else _size(given, axis) for axis, size in enumerate(given)]
    dtype = port.dtype
    if dtype is None or (dtype == np.object_ and "string" not in str(port.element)):
        dtype = np.dtype(np.float32)
    if dtype.kind == "O":
        return generator.choice(np.array(["a", "b"], dtype=object), shape)
    if dtype.kind in "iub":
        return generator.integers(0, 2, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def _size(shape: Sequence[int], axis: int) -> int:
    if axis == 0:
        return BATCH
    spatial = len(shape) == 4 and sum(size < 0 for size in shape[1:]) >= 2
    return IMAGE if spatial else LENGTH
