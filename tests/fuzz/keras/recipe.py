"""What draws a layer of Keras: the layer, the arrays that it is called with, and how it is called."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
keras: Any = import_module("keras")
layers: Any = keras.layers
if keras.backend.backend() == "jax":
    # 64-bit numbers are of 32 bits otherwise, which is said in no file.
    import_module("jax").config.update("jax_enable_x64", True)


BICUBIC = "bicubic" if keras.backend.backend() == "tensorflow" else "bilinear"
"""TensorFlow looks its cubic kernel up in a table, other backends compute it."""


@dataclass
class Call:
    """A call of a layer or of a function of `keras.ops`.

    Args:
        layer: the layer, or any function of tensors.
        arrays: what it is called with.
        keywords: further arguments.
        joined: whether the arrays are one argument, a list.
        fixed: whether all dimensions but the first are always said.
        channels: the axis whose size is always said.
    """

    layer: Any
    arrays: Sequence[Array]
    keywords: Mapping[str, Any] = field(default_factory=dict[str, Any])
    joined: bool = False
    fixed: bool = False
    channels: int = -1


Recipe = Callable[[Draw, str], Call]
"""Takes the class of the layer or the name of the function."""

LAYERS: dict[str, Recipe] = {}
"""What draws each layer."""

FUNCTIONS: dict[str, Recipe] = {}
"""What draws each function of `keras.ops`."""


def recipe(classes: str) -> Callable[[Recipe], Recipe]:
    """Registers what draws some layers; classes that this release of Keras does not have are left out."""

    def register(function: Recipe) -> Recipe:
        LAYERS.update({name: function for name in classes.split() if hasattr(layers, name)})
        return function

    return register


def function_recipe(names: str) -> Callable[[Recipe], Recipe]:
    """Registers what draws some functions; those that this release of Keras does not have are left out."""

    def register(function: Recipe) -> Recipe:
        FUNCTIONS.update({name: function for name in names.split() if hasattr(keras.ops, name)})
        return function

    return register


ACTIVATIONS = (
    *("linear", "relu", "sigmoid", "tanh", "softmax", "gelu", "elu", "selu", "silu", "softplus", "softsign", "relu6", "celu", "mish"),
    *("exponential", "hard_sigmoid", "hard_silu", "hard_tanh", "hard_shrink", "leaky_relu", "log_sigmoid", "log_softmax", "soft_shrink"),
    *("sparse_plus", "sparse_sigmoid", "squareplus", "tanh_shrink", "threshold", "sparsemax", "glu"),
)
"""The activations that have names."""


def activation(draw: Draw) -> str | None:
    """An activation that keeps the shape; mostly none."""
    return draw.one_of(ACTIVATIONS[:-1]) if draw.chance(0.4) else None


def data_format(draw: Draw) -> str | None:
    """The place of the channels; None for the default."""
    return draw.one_of((None, "channels_last", "channels_last", "channels_first"))


def spatial(draw: Draw, rank: int, form: str | None, channels: int, low: int = 1, high: int = 9) -> Array:
    """Images of a rank, with channels where a format says."""
    sizes = draw.integers(rank, low, high)
    batch = draw.integer(1, 3)
    return numbers(draw, [batch, channels, *sizes] if form == "channels_first" else [batch, *sizes, channels])


def channel_axis(form: str | None) -> int:
    """The axis of the channels."""
    return 1 if form == "channels_first" else -1


def numbers(draw: Draw, shape: Sequence[int], special: float = 0.0) -> Array:
    """An array of f32; without special values, because layers add them up."""
    return draw.array(np.dtype(np.float32), shape, special)


def each_axis(draw: Draw, rank: int, low: int, high: int) -> int | tuple[int, ...]:
    """A number for all spatial axes, or one for each."""
    return draw.integer(low, high) if draw.chance(0.5) else tuple(draw.integers(rank, low, high))


def rank_of(name: str) -> int:
    """The number of spatial axes that the class of a layer says: 2 for Conv2D."""
    return next(int(digit) for digit in name if digit.isdigit())
