"""Convolutions, in all spatial ranks and both channel orders."""

from __future__ import annotations

from typing import Any

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import Call, activation, channel_axis, data_format, each_axis, layers, rank_of, recipe, spatial


def _options(draw: Draw, rank: int, form: str | None) -> dict[str, Any]:
    """The options that all convolutions have; strides and dilations are not both more than 1, as Keras demands."""
    options: dict[str, Any] = {
        "kernel_size": each_axis(draw, rank, 1, 3),
        "padding": draw.one_of(("valid", "same")),
        "use_bias": draw.chance(0.7),
        "activation": activation(draw),
        "data_format": form,
    }
    way = draw.one_of(("plain", "strides", "strides", "dilation"))
    if way == "strides":
        options["strides"] = each_axis(draw, rank, 1, 3)
    elif way == "dilation":
        options["dilation_rate"] = each_axis(draw, rank, 1, 3)
    return options


@recipe("Conv1D Conv2D Conv3D Convolution1D Convolution2D Convolution3D")
def convolution(draw: Draw, name: str) -> Call:
    """A convolution, perhaps in groups."""
    rank, form, groups = rank_of(name), data_format(draw), draw.one_of((1, 1, 1, 2, 3))
    options = _options(draw, rank, form)
    if rank == 1 and form != "channels_first" and draw.chance(0.3):
        options["padding"] = "causal"
    channels = groups * draw.integer(1, 3)
    return Call(
        getattr(layers, name)(groups * draw.integer(1, 3), groups=groups, **options),
        [spatial(draw, rank, form, channels)],
        channels=channel_axis(form),
    )


@recipe("Conv1DTranspose Conv2DTranspose Conv3DTranspose Convolution1DTranspose Convolution2DTranspose Convolution3DTranspose")
def transposed(draw: Draw, name: str) -> Call:
    """A transposed convolution, perhaps with output_padding."""
    rank, form = rank_of(name), data_format(draw)
    options = _options(draw, rank, form)
    strides = options.get("strides", 1)
    if draw.chance(0.3):
        least = strides if isinstance(strides, int) else min(strides)
        options["output_padding"] = draw.integer(0, max(0, least - 1))
    return Call(
        getattr(layers, name)(draw.integer(1, 4), **options),
        [spatial(draw, rank, form, draw.integer(1, 3), high=5)],
        channels=channel_axis(form),
    )


@recipe("DepthwiseConv1D DepthwiseConv2D")
def depthwise(draw: Draw, name: str) -> Call:
    """A convolution of each channel by itself."""
    rank, form = rank_of(name), data_format(draw)
    options = _options(draw, rank, form)
    options["strides"] = draw.integer(1, 3) if "strides" in options else 1
    return Call(
        getattr(layers, name)(depth_multiplier=draw.integer(1, 3), **options),
        [spatial(draw, rank, form, draw.integer(1, 4))],
        channels=channel_axis(form),
    )


@recipe("SeparableConv1D SeparableConv2D SeparableConvolution1D SeparableConvolution2D")
def separable(draw: Draw, name: str) -> Call:
    """A convolution of each channel, then one of the channels."""
    rank, form = rank_of(name), data_format(draw)
    options = _options(draw, rank, form)
    options["strides"] = draw.integer(1, 3) if "strides" in options else 1
    made = getattr(layers, name)(draw.integer(1, 4), depth_multiplier=draw.integer(1, 2), **options)
    return Call(made, [spatial(draw, rank, form, draw.integer(1, 4))], channels=channel_axis(form))
