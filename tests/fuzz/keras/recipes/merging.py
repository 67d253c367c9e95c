"""Layers of several tensors."""

from __future__ import annotations

from typing import Any

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import Call, layers, numbers, recipe


@recipe("Add Subtract Multiply Average Maximum Minimum")
def elementwise(draw: Draw, name: str) -> Call:
    """A function of elements, of tensors that broadcast."""
    shape = draw.filled(2, 4)
    count = 2 if name == "Subtract" else draw.integer(2, 4)
    arrays = [numbers(draw, [shape[0], *[1 if draw.chance(0.15) else size for size in shape[1:]]]) for _ in range(count)]
    if draw.chance(0.15) and len(shape) > 2:
        arrays[-1] = numbers(draw, [shape[0], *shape[2:]])
    return Call(getattr(layers, name)(), arrays, joined=True)


@recipe("Concatenate")
def concatenate(draw: Draw, name: str) -> Call:
    """Tensors one after the other."""
    shape = draw.filled(2, 4)
    axis = draw.one_of([-1, *range(1, len(shape))])
    arrays: list[Any] = []
    for _ in range(draw.integer(2, 4)):
        each = list(shape)
        each[axis] = draw.integer(1, 4)
        arrays.append(numbers(draw, each))
    return Call(getattr(layers, name)(axis=axis), arrays, joined=True)


@recipe("Dot")
def dot(draw: Draw, name: str) -> Call:
    """Products along axes."""
    batch, common = draw.integer(1, 3), draw.integer(1, 4)
    shapes: list[list[int]] = []
    axes: list[int] = []
    for _ in range(2):
        shape = draw.integers(draw.integer(1, 3), 1, 4)
        axis = draw.integer(0, len(shape) - 1)
        shape[axis] = common
        shapes.append([batch, *shape])
        axes.append(axis + 1 if draw.chance(0.7) else axis - len(shape))
    chosen = axes[0] if axes[0] == axes[1] and draw.chance(0.5) else tuple(axes)
    return Call(getattr(layers, name)(chosen, normalize=draw.chance(0.3)), [numbers(draw, shape) for shape in shapes], joined=True)
