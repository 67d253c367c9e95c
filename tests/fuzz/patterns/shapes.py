"""Shapes that are computed, and the operations that take them."""

from __future__ import annotations

import numpy as np

from tests.fuzz.sketch import Sketch, pattern


def entry(g: Sketch, shape: str, axis: int) -> str:
    """One dimension of a shape, as a list of one."""
    if g.draw.chance(0.5):
        return g.op("Gather", shape, g.integers(axis), axis=0)
    return g.op("Unsqueeze", g.op("Gather", shape, g.array(axis, np.int64), axis=0), g.integers(0))


@pattern("simplify-shape-of")
def rebuilt_shape(g: Sketch) -> str:
    shape = g.draw.filled(2, 4)
    x = g.input(shape)
    of = g.op("Shape", g.op("Relu", x) if g.draw.chance(0.3) else x)
    entries = [entry(g, of, axis) if g.draw.chance(0.6) else g.integers(size) for axis, size in enumerate(shape)]
    order = g.draw.permutation(len(shape)) if g.draw.chance(0.4) else list(range(len(shape)))
    target = g.op("Concat", *(entries[axis] for axis in order), axis=0)
    if g.draw.chance(0.3):
        target = g.op("Concat", g.op("Slice", of, g.integers(0), g.integers(1)), g.integers(-1), axis=0)
    return g.op("Reshape", x, target)


@pattern("simplify-shape-of.arithmetic")
def computed_sizes(g: Sketch) -> str:
    shape = g.draw.filled(2, 3)
    x = g.input(shape)
    of = g.op("Shape", x)
    left, right = entry(g, of, 0), entry(g, of, 1)
    kind = g.draw.one_of(("Add", "Sub", "Mul", "Div", "Max"))
    size = g.op(kind, left, right) if g.draw.chance(0.5) else g.op(kind, left, g.integers(g.draw.integer(1, 3)))
    match g.draw.integer(0, 2):
        case 0:
            return g.op("Slice", x, g.integers(0), size, g.integers(0))
        case 1:
            return g.op("ConstantOfShape", size)
        case _:
            scalar = g.op("Squeeze", size, g.integers(0))
            return g.op("Range", g.array(g.draw.integer(-1, 2), np.int64), scalar, g.array(g.draw.one_of((1, 1, 2, -1)), np.int64))


@pattern("simplify-broadcast")
def expanded(g: Sketch) -> str:
    shape = g.draw.shape(1, 3)
    x, y = g.input(g.draw.broadcasts_to(shape)), g.input(shape if g.draw.chance(0.7) else g.draw.broadcasts_to(shape))
    wide = g.op("Expand", x, g.op("Shape", y) if g.draw.chance(0.7) else g.integers(*shape))
    match g.draw.integer(0, 2):
        case 0:
            return g.op(g.draw.one_of(("Add", "Mul", "Sub")), wide, y)
        case 1:
            return g.op("Where", g.op("Greater", wide, g.number(0.0)), wide, y)
        case _:
            return g.op("Relu", wide)


@pattern("eliminate-identities.movement")
def movements(g: Sketch) -> str:
    shape = g.draw.shape(1, 3)
    x = g.input(shape)
    for _ in range(g.draw.integer(1, 3)):
        match g.draw.integer(0, 5):
            case 0:
                x = g.op("Transpose", x, perm=g.permutation(list(range(len(shape)))))
            case 1:
                x = g.op("Slice", x, g.integers(0), g.integers(2**31 - 1), g.integers(g.draw.axis(len(shape))))
            case 2:
                x = g.op("Pad", x, g.integers(*[0] * (2 * len(shape))))
            case 3:
                x = g.op("Tile", x, g.integers(*[1] * len(shape)))
            case 4:
                x = g.op("Concat", x, axis=0)
            case _:
                x = g.op("Cast", x, to=1)
    return g.op("Neg", x) if g.draw.chance(0.5) else x


@pattern("select.masks")
def masks(g: Sketch) -> str:
    """Comparisons, Not and Where, which lowerings and folding turn round."""
    shape = g.draw.shape(0, 3)
    x, y = g.input(shape), g.input(g.draw.broadcasts_to(shape))
    mask = g.op(g.draw.one_of(("Greater", "Less", "Equal", "GreaterOrEqual", "LessOrEqual")), x, y)
    for _ in range(g.draw.integer(0, 2)):
        mask = g.op("Not", mask)
    if g.draw.chance(0.3):
        return g.op("Mul", g.op("Cast", mask, to=1), x)
    return g.op("Where", mask, x, g.number(g.draw.one_of((0.0, -np.inf)), 2))
