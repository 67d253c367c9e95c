"""Chains of operations that move elements."""

from __future__ import annotations

import numpy as np

from tests.fuzz.sketch import DEVIATION, Sketch, pattern


@pattern("cancel-transposes")
def transposes(g: Sketch) -> str:
    shape = g.draw.shape(1, 4)
    order = g.draw.permutation(len(shape))
    x = g.op("Transpose", g.input(shape), perm=order)
    moved = [shape[axis] for axis in order]
    for _ in range(g.draw.integer(0, 2)):
        match g.draw.integer(0, 3):
            case 0:
                x = g.op("Relu", x)
            case 1:
                x = g.op("Mul", x, g.weights(g.draw.broadcasts_to(moved)))
            case 2:
                x = g.op("Softmax", x, axis=g.draw.axis(len(shape)))
            case _:
                x = g.op("Concat", x, x, axis=g.draw.axis(len(shape)))
    return g.op("Transpose", x, perm=g.permutation(np.argsort(order).tolist()))


@pattern("cancel-reshapes")
def reshapes(g: Sketch) -> str:
    shape = g.draw.shape(1, 4)
    x, sizes = g.input(shape), list(shape)
    for _ in range(g.draw.integer(2, 4)):
        match g.draw.integer(0, 3):
            case 0:
                axis = g.draw.integer(0, len(sizes))
                x = g.op("Unsqueeze", x, g.integers(axis))
                sizes.insert(axis, 1)
            case 1 if 1 in sizes:
                axis = sizes.index(1)
                x = g.op("Squeeze", x, g.integers(axis)) if g.draw.chance(0.6) else g.op("Gather", x, g.array(0, np.int64), axis=axis)
                del sizes[axis]
            case 2 if len(sizes) > 1:
                axis = g.draw.integer(0, len(sizes) - 2)
                sizes[axis : axis + 2] = [sizes[axis] * sizes[axis + 1]]
                x = g.reshape(x, *sizes)
            case _:
                x = g.op("Flatten", x, axis=1)
                sizes = [sizes[0] if sizes else 1, int(np.prod(sizes[1:]))]
    return x


@pattern("simplify-reshape")
def zeros_and_rest(g: Sketch) -> str:
    shape = g.draw.filled(2, 4)
    x = g.input(shape)
    target = [0 if g.draw.chance(0.5) else size for size in shape]
    target[g.draw.integer(0, len(target) - 1)] = -1
    y = g.op("Reshape", x, g.integers(*target))
    return g.op("Reshape", y, g.op("Shape", x))


@pattern("fuse-concats")
def concats(g: Sketch) -> str:
    shape = g.draw.shape(1, 3)
    axis = g.draw.integer(0, len(shape) - 1)
    first, second = g.axis(axis, len(shape)), g.axis(axis, len(shape))
    inner = g.op("Concat", g.input(shape), g.input(shape), axis=first)
    beside = list(shape)
    if (first - second) % len(shape):
        beside[first] *= 2
    members = [inner, g.input(beside)]
    if g.draw.chance(0.3):
        members.append(inner)
    return g.op("Concat", *(members if g.draw.chance(0.5) else reversed(members)), axis=second)


@pattern("fuse-slices")
def slices(g: Sketch) -> str:
    shape = g.draw.shape(1, 3)
    x = g.input(shape)
    for _ in range(g.draw.integer(1, 3)):
        axis = g.draw.axis(len(shape))
        bounds = (g.draw.integer(-4, 3), g.draw.one_of((g.draw.integer(-4, 5), 2**31 - 1, -(2**31) + 1)))
        x = g.op("Slice", x, g.integers(bounds[0]), g.integers(bounds[1]), g.integers(axis), g.integers(g.draw.one_of((1, 1, 2, -1))))
    return x


@pattern("fuse-slices.parts")
def parts(g: Sketch) -> str:
    """Slices of one value, which together may be a split."""
    shape = g.draw.filled(1, 3)
    axis = g.draw.integer(0, len(shape) - 1)
    shape[axis] = 4
    x = g.input(shape)
    step = g.draw.one_of((1, 2))
    results = [
        g.op("Slice", x, g.integers(start), g.integers(min(4, start + step + (g.draw.chance(DEVIATION)))), g.integers(axis))
        for start in range(0, 4, step)
    ]
    return g.op("Concat", *(results if g.draw.chance(0.5) else results[::-1]), axis=axis)


@pattern("fuse-shuffle-channels")
def shuffle(g: Sketch) -> str:
    group, each = g.draw.integer(1, 3), g.draw.integer(1, 3)
    outer, rest = g.draw.integer(1, 2), g.draw.integers(2, 1, 3)
    x = g.reshape(g.input([outer, group * each, *rest]), outer, group, each, *rest)
    x = g.op("Transpose", x, perm=g.permutation([0, 2, 1, 3, 4]))
    return g.reshape(x, outer, group * each, *rest)


@pattern("fuse-depth-to-space")
def depth_to_space(g: Sketch) -> str:
    batch, depth, height, width = (g.draw.integer(1, 2) for _ in range(4))
    block, other = g.draw.integer(1, 3), g.draw.integer(1, 3)
    other = other if g.draw.chance(DEVIATION) else block
    x = g.input([batch, depth * block * other, height, width])
    if g.draw.chance(0.5):
        x = g.op("Transpose", g.reshape(x, batch, block, other, depth, height, width), perm=g.permutation([0, 3, 4, 1, 5, 2]))
    else:
        x = g.op("Transpose", g.reshape(x, batch, depth, block, other, height, width), perm=g.permutation([0, 1, 4, 2, 5, 3]))
    return g.reshape(x, batch, depth, height * block, width * other)


@pattern("fuse-space-to-depth")
def space_to_depth(g: Sketch) -> str:
    batch, depth, height, width, block = (g.draw.integer(1, 2) for _ in range(5))
    x = g.reshape(g.input([batch, depth, height * block, width * block]), batch, depth, height, block, width, block)
    x = g.op("Transpose", x, perm=g.permutation(g.draw.one_of(([0, 3, 5, 1, 2, 4], [0, 1, 3, 5, 2, 4]))))
    return g.reshape(x, batch, depth * block**2, height, width)


@pattern("fuse-repeats")
def repeats(g: Sketch) -> str:
    shape = g.draw.filled(2, 4)
    axis, times = g.draw.integer(0, len(shape) - 1), g.draw.integer(1, 3)
    place = axis if g.draw.chance(DEVIATION) else axis + 1
    x = g.op("Unsqueeze", g.input(shape), g.integers(place))
    x = g.op("Tile", x, g.integers(*(times if number == place else 1 for number in range(len(shape) + 1))))
    return g.reshape(x, *(size * times if number == axis else size for number, size in enumerate(shape)))


@pattern("unbatch-gather")
def batched_gather(g: Sketch) -> str:
    shape = [g.draw.one_of((1, 1, 2)), g.draw.integer(1, 4), g.draw.integer(1, 4)]
    count = g.draw.integer(1, 3)
    indices = g.draw.between(np.int64, [shape[0], count, 1], -shape[1], shape[1] - 1)
    name = g.array(indices, np.int64)
    return g.op("GatherND", g.input(shape), name, batch_dims=1)


@pattern("reshape-unit-transposes")
def unit_transposes(g: Sketch) -> str:
    shape = [g.draw.one_of((1, 1, 1, 2, 3)) for _ in range(g.draw.integer(2, 5))]
    y = g.op("Transpose", g.input(shape), perm=g.draw.permutation(len(shape)))
    return g.op("Flatten", y, axis=1) if g.draw.chance(0.5) else y
