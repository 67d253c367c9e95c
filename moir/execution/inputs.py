"""Random inputs for a model."""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ExecutionError, UsageError
from moir.execution.integer_ranges import Ranges
from moir.execution.ports import TensorPort
from moir.support.suggestions import did_you_mean

IMAGE_RANK = 3
"""The smallest number of dimensions of an array of 8-bit integers that is taken for an image."""

BATCH, LENGTH, IMAGE = 1, 8, 64
"""The sizes, in elements, that random inputs get for dynamic dimensions: the first one, others, and height and width of
images.
"""


def random_inputs(
    ports: Sequence[TensorPort], seed: int, shapes: Mapping[str, Sequence[int]] | None = None, ranges: Ranges | None = None
) -> dict[str, Array]:
    """Random arrays for the inputs of a model, always the same ones for the same seed.

    Floating-point numbers have a normal distribution. Integers of 8 bits in at least three dimensions are images: they
    have all values of their type. Other integers are 0 or 1, so that they are indices into anything. Inputs in `ranges`
    have a uniform distribution.

    Args:
        ports: the inputs.
        seed: the seed.
        shapes: shapes by the names of inputs, in elements, -1 for a size that is left open.
        ranges: the least and the greatest number of an input, by its names.

    Raises UsageError for an input whose rank or element type is unknown, unless `shapes` has it.
    """
    generator = np.random.default_rng(seed)
    chosen = chosen_shapes(ports, shapes or {})
    limits = [next(((ranges or {})[name] for name in port.names if name in (ranges or {})), None) for port in ports]
    return {port.name: _random(port, generator, shape, range_) for port, shape, range_ in zip(ports, chosen, limits, strict=True)}


def checked_ranges(ports: Sequence[TensorPort], ranges: Ranges) -> Ranges:
    """`ranges`, which have names of inputs as keys, after a check. Raises UsageError for a name that no input has."""
    known = {name for port in ports for name in port.names}
    for name in ranges:
        if name not in known:
            reason = f"the model has no input {name!r} whose range could be set"
            raise UsageError(reason, hint=did_you_mean(name, known, f"there are {', '.join(port.name for port in ports)}"))
    return ranges


def chosen_shapes(ports: Sequence[TensorPort], shapes: Mapping[str, Sequence[int]]) -> list[list[int]]:
    """A shape for each input. Dynamic dimensions of one name have one size.

        tokens[batch,length], mask[batch,past + length], past[batch,2,past,16]  ->  [1,8], [1,16], [1,2,8,16]

    Args:
        ports: the inputs.
        shapes: shapes by the names of inputs, -1 for a size that is left open.

    Raises UsageError for an input whose rank is dynamic.
    """
    chosen: list[list[int]] = []
    for port in ports:
        declared = next((shapes[name] for name in port.names if name in shapes), port.shape)
        if declared is None:
            raise UsageError(f"the rank of the input {port.name!r} is unknown", hint=f"say its shape: --input '{port.name}[1,8]'")
        chosen.append(list(declared))
    named = [
        (name, shape, axis)
        for port, shape in zip(ports, chosen, strict=True)
        for axis, name in enumerate(port.dimension_names[: len(shape)])
        if name
    ]
    sizes: dict[str, int] = {}
    for name, shape, axis in named:
        if shape[axis] >= 0:
            sizes.setdefault(name, shape[axis])
    # Names that are sums of other names come last: the sizes of their terms may be set by later inputs.
    for name, shape, axis in sorted(named, key=lambda each: "+" in each[0]):
        if shape[axis] < 0:
            sizes.setdefault(name, _sum(name, sizes) or _size(shape, axis))
    for name, shape, axis in named:
        shape[axis] = sizes[name] if shape[axis] < 0 else shape[axis]
    return [[size if size >= 0 else _size(shape, axis) for axis, size in enumerate(shape)] for shape in chosen]


@contextmanager
def explained_sizes(ports: Sequence[TensorPort], inputs: Mapping[str, Array]) -> Generator[None]:
    """A context that adds the shapes of random inputs to the hint of a runtime's error, if some of their sizes were
    chosen by moir.

    Args:
        ports: the inputs of the model.
        inputs: the random arrays.
    """
    try:
        yield
    except ExecutionError as error:
        open_ports = [port for port in ports if port.shape is None or min(port.shape, default=0) < 0]
        if error.hint is not None or not open_ports:
            raise
        shapes = ",".join(f"{port.name}[{','.join(map(str, inputs[port.name].shape))}]" for port in open_ports)
        hint = f"sizes that the model leaves open were chosen; say which fit together: --input '{shapes}'"
        raise ExecutionError(error.reason, location=error.location, hint=hint) from error


def _sum(name: str, sizes: Mapping[str, int]) -> int | None:
    """The size of a dimension named by a sum, as `past + 1`, from the sizes of the names in it.

    Returns None for a name without `+`, or if one of its names has no size.
    """
    parts = [part.strip() for part in name.split("+")]
    values = [int(part) if part.isdecimal() else sizes.get(part) for part in parts]
    return sum(value or 0 for value in values) if len(parts) > 1 and None not in values else None


def _random(port: TensorPort, generator: np.random.Generator, shape: Sequence[int], limits: tuple[float, float] | None) -> Array:
    dtype = port.dtype
    if dtype is None or (dtype == np.object_ and "string" not in str(port.element)):
        dtype = np.dtype(np.float32)
    if dtype.kind == "O":
        return generator.choice(np.array(["a", "b"], dtype=object), shape)
    if dtype.kind in "iub":
        low, high = _integer_limits(dtype, len(shape)) if limits is None else _within(dtype, limits)
        return generator.integers(low, high, shape, endpoint=True).astype(dtype)
    if limits is not None:
        return generator.uniform(*limits, shape).astype(dtype)
    return generator.standard_normal(shape).astype(dtype)


def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest number of a type of integers or booleans."""
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def _within(dtype: np.dtype[Any], limits: tuple[float, float]) -> tuple[int, int]:
    """The smallest and the largest integer of a type within `limits`, two numbers that need not be integers."""
    least, greatest = _limits(dtype)
    low = min(max(math.ceil(limits[0]), least), greatest)
    return low, max(min(math.floor(limits[1]), greatest), low)


def _integer_limits(dtype: np.dtype[Any], rank: int) -> tuple[int, int]:
    """The smallest and the largest random integer for an input, from its type and rank alone."""
    return _limits(dtype) if dtype.kind in "iu" and dtype.itemsize == 1 and rank >= IMAGE_RANK else (0, 1)


def _size(shape: Sequence[int], axis: int) -> int:
    if axis == 0:
        return BATCH
    spatial = len(shape) == 4 and sum(size < 0 for size in shape[1:]) >= 2
    return IMAGE if spatial else LENGTH
