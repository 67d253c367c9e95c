"""Layers that move elements: crops, paddings, repetitions, shapes."""

from __future__ import annotations

from typing import Any

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import BICUBIC, Call, data_format, each_axis, layers, numbers, rank_of, recipe, spatial


def _ends(draw: Draw, rank: int, high: int) -> Any:
    """Numbers for the beginning and the end of each axis, in any of the forms that Keras takes."""
    if rank == 1:
        return draw.one_of((draw.integer(0, high), tuple(draw.integers(2, 0, high))))
    each = tuple(tuple(draw.integers(2, 0, high)) for _ in range(rank))
    return draw.one_of((draw.integer(0, high), tuple(draw.integers(rank, 0, high)), each))


@recipe("Cropping1D Cropping2D Cropping3D")
def cropping(draw: Draw, name: str) -> Call:
    """A crop."""
    rank = rank_of(name)
    form = data_format(draw) if rank > 1 else None
    options = {"data_format": form} if rank > 1 else {}
    return Call(getattr(layers, name)(_ends(draw, rank, 2), **options), [spatial(draw, rank, form, 2, low=5)])


@recipe("ZeroPadding1D ZeroPadding2D ZeroPadding3D")
def padding(draw: Draw, name: str) -> Call:
    """A padding with zeros."""
    rank, form = rank_of(name), data_format(draw)
    return Call(getattr(layers, name)(_ends(draw, rank, 3), data_format=form), [spatial(draw, rank, form, 2, high=5)])


@recipe("UpSampling1D UpSampling2D UpSampling3D")
def up_sampling(draw: Draw, name: str) -> Call:
    """Repeated or interpolated pixels."""
    rank = rank_of(name)
    form = data_format(draw) if rank > 1 else None
    options: dict[str, Any] = {"data_format": form} if rank > 1 else {}
    if rank == 2:
        options["interpolation"] = draw.one_of(("nearest", "nearest", "bilinear", BICUBIC, "lanczos3", "lanczos5"))
    size = draw.integer(1, 3) if rank == 1 else each_axis(draw, rank, 1, 3)
    return Call(getattr(layers, name)(size, **options), [spatial(draw, rank, form, 2, high=5)])


@recipe("Flatten")
def flatten(draw: Draw, _: str) -> Call:
    """A row for each element of the batch."""
    return Call(layers.Flatten(data_format=data_format(draw)), [numbers(draw, draw.filled(1, 5))])


@recipe("Permute")
def permute(draw: Draw, _: str) -> Call:
    """Another order of the axes."""
    shape = draw.filled(2, 5)
    return Call(layers.Permute(tuple(axis + 1 for axis in draw.permutation(len(shape) - 1))), [numbers(draw, shape)])


@recipe("RepeatVector")
def repeat(draw: Draw, _: str) -> Call:
    """A vector for each of some steps."""
    return Call(layers.RepeatVector(draw.integer(1, 4)), [numbers(draw, draw.filled(2, 2))])


@recipe("Reshape")
def reshape(draw: Draw, _: str) -> Call:
    """Another shape, of which one size may be left open."""
    sizes = draw.integers(draw.integer(1, 4), 1, 4)
    count = 1
    for size in sizes:
        count *= size
    factor = draw.one_of([each for each in range(1, count + 1) if count % each == 0])
    target = draw.one_of(([factor, count // factor], [count], [factor, -1], [-1, factor], [factor, 1, -1]))
    return Call(layers.Reshape(tuple(target)), [numbers(draw, [draw.integer(1, 3), *sizes])])
