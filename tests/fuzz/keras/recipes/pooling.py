"""Poolings: of windows, of everything, adaptive ones."""

from __future__ import annotations

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import Call, data_format, each_axis, layers, rank_of, recipe, spatial


@recipe(
    "MaxPooling1D MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D "
    "MaxPool1D MaxPool2D MaxPool3D AvgPool1D AvgPool2D AvgPool3D"
)
def windows(draw: Draw, name: str) -> Call:
    """A pooling of windows."""
    rank, form = rank_of(name), data_format(draw)
    strides = None if draw.chance(0.3) else each_axis(draw, rank, 1, 3)
    made = getattr(layers, name)(each_axis(draw, rank, 1, 4), strides=strides, padding=draw.one_of(("valid", "same")), data_format=form)
    return Call(made, [spatial(draw, rank, form, draw.integer(1, 3), low=3)])


@recipe(
    "GlobalMaxPooling1D GlobalMaxPooling2D GlobalMaxPooling3D GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D "
    "GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalAvgPool1D GlobalAvgPool2D GlobalAvgPool3D"
)
def everything(draw: Draw, name: str) -> Call:
    """A pooling of everything."""
    form = data_format(draw)
    return Call(getattr(layers, name)(data_format=form, keepdims=draw.chance(0.4)), [spatial(draw, rank_of(name), form, 3)])


@recipe(
    "AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D "
    "AdaptiveMaxPooling1D AdaptiveMaxPooling2D AdaptiveMaxPooling3D"
)
def adaptive(draw: Draw, name: str) -> Call:
    """A pooling to a number of windows."""
    rank, form = rank_of(name), data_format(draw)
    made = getattr(layers, name)(each_axis(draw, rank, 1, 4), data_format=form)
    return Call(made, [spatial(draw, rank, form, draw.integer(1, 3), low=3)], fixed=True)
