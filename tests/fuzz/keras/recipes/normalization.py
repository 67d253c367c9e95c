"""Normalizations."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import Call, layers, numbers, recipe


@recipe("BatchNormalization")
def batch(draw: Draw, _: str) -> Call:
    """A batch normalization in inference."""
    shape = draw.filled(2, 5)
    axis = draw.one_of([-1, *range(1, len(shape))])
    made = layers.BatchNormalization(
        axis=axis, epsilon=draw.one_of((1e-3, 1e-5, 0.1)), center=draw.chance(0.7), scale=draw.chance(0.7), name=None
    )
    return Call(made, [numbers(draw, shape)], channels=axis)


@recipe("LayerNormalization")
def layer(draw: Draw, _: str) -> Call:
    """A layer normalization over one axis or several."""
    shape = draw.filled(2, 5)
    axes = sorted({draw.integer(1, len(shape) - 1) for _ in range(2)})
    axis = draw.one_of((-1, axes, axes[0], [each - len(shape) for each in axes]))
    made = layers.LayerNormalization(axis=axis, epsilon=draw.one_of((1e-3, 1e-6)), center=draw.chance(0.7), scale=draw.chance(0.7))
    return Call(made, [numbers(draw, shape)], fixed=True)


@recipe("RMSNormalization UnitNormalization")
def of_squares(draw: Draw, name: str) -> Call:
    """A normalization by the squares along axes."""
    shape = draw.filled(2, 5)
    axes = sorted({draw.integer(1, len(shape) - 1) for _ in range(2)})
    return Call(getattr(layers, name)(axis=draw.one_of((-1, axes[0], axes))), [numbers(draw, shape)])


@recipe("GroupNormalization")
def group(draw: Draw, _: str) -> Call:
    """A normalization of groups of channels; -1 is one group for each."""
    shape = draw.filled(2, 5)
    axis = draw.one_of([-1, -1, *range(1, len(shape))])
    shape[axis] = 6
    groups = draw.one_of((1, 2, 3, 6, -1))
    made = layers.GroupNormalization(groups, axis=axis, epsilon=draw.one_of((1e-3, 1e-5)), center=draw.chance(0.7), scale=draw.chance(0.7))
    return Call(made, [numbers(draw, shape)], channels=axis)


@recipe("Normalization")
def statistics(draw: Draw, _: str) -> Call:
    """A normalization by given numbers, perhaps inverted."""
    shape = draw.filled(2, 4)
    if draw.chance(0.3):
        made = layers.Normalization(axis=None, mean=0.5, variance=draw.one_of((0.25, 2.0)), invert=draw.chance(0.3))
        return Call(made, [numbers(draw, shape)])
    axis = draw.one_of((-1, len(shape) - 1))
    mean = [round(float(each), 3) for each in draw.random.normal(size=shape[-1])]
    variance = [round(float(each), 3) for each in draw.random.uniform(0.2, 2, shape[-1])]
    return Call(layers.Normalization(axis=axis, mean=mean, variance=variance, invert=draw.chance(0.3)), [numbers(draw, shape)])


@recipe("SpectralNormalization")
def spectral(draw: Draw, _: str) -> Call:
    """A layer whose kernel is divided by its norm."""
    if draw.chance(0.5):
        return Call(layers.SpectralNormalization(layers.Dense(draw.integer(1, 4))), [numbers(draw, [2, 3])])
    return Call(layers.SpectralNormalization(layers.Conv2D(3, 2)), [numbers(draw, [1, 4, 5, 2])])
