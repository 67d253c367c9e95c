"""Activations, products with weights, and layers that training alone has."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.keras.recipe import ACTIVATIONS, Call, activation, layers, numbers, recipe


@recipe("Activation")
def named(draw: Draw, _: str) -> Call:
    """An activation by its name."""
    chosen = draw.one_of(ACTIVATIONS)
    shape = draw.filled(2, 4)
    shape[-1] = 4 if chosen == "glu" else shape[-1]
    return Call(layers.Activation(chosen), [numbers(draw, shape, special=0.0 if chosen == "sparsemax" else 0.1)])


@recipe("ReLU LeakyReLU ELU PReLU Softmax")
def rectifiers(draw: Draw, name: str) -> Call:
    """An activation with options."""
    shape = draw.filled(2, 4)
    options: dict[str, Any] = {}
    match name:
        case "ReLU":
            options["max_value"] = draw.one_of((None, None, 0.0, 1.5, 6.0))
            options["negative_slope"] = draw.one_of((0.0, 0.2))
            options["threshold"] = draw.one_of((0.0, 0.0, 0.5, 1.0))
        case "LeakyReLU":
            options["negative_slope"] = draw.one_of((0.0, 0.1, 0.3, 1.0, 2.0))
        case "ELU":
            options["alpha"] = draw.one_of((1.0, 0.3, 2.0))
        case "PReLU":
            options["shared_axes"] = draw.one_of((None, [each for each in range(1, len(shape)) if draw.chance(0.5)] or None))
        case _:
            axes = [-1, *range(1, len(shape))]
            options["axis"] = draw.one_of((*axes, [len(shape) - 1], list(range(1, len(shape)))))
    return Call(getattr(layers, name)(**options), [numbers(draw, shape)])


@recipe("Dense")
def dense(draw: Draw, _: str) -> Call:
    """A product with a matrix."""
    made = layers.Dense(draw.integer(1, 5), activation=activation(draw), use_bias=draw.chance(0.7))
    return Call(made, [numbers(draw, draw.filled(2, 4))])


EQUATIONS = (
    "ab,bc->ac",
    "abc,cd->abd",
    "abc,cde->abde",
    "abc,bd->adc",
    "ab,bcd->acd",
    "abcd,cde->abe",
    "...x,xy->...y",
    "abc,bc->ab",
    "abc,c->abc",
)


@recipe("EinsumDense")
def einsum_dense(draw: Draw, _: str) -> Call:
    """A product that an equation describes."""
    equation = draw.one_of(EQUATIONS)
    terms, result = equation.split("->")
    left = terms.split(",")[0]
    sizes = {letter: draw.integer(1, 4) for letter in equation if letter.isalpha()}
    shape = [sizes[letter] for letter in left if letter.isalpha()]
    if "..." in left:
        shape = [*draw.integers(draw.integer(1, 3), 1, 3), *shape]
    letters = [letter for letter in result if letter.isalpha()]
    said = [sizes[letter] for letter in (letters if "..." in result else letters[1:])]
    axes = "".join(letter for letter in letters[1:] if draw.chance(0.5)) or None
    made = layers.EinsumDense(equation, output_shape=tuple(said), bias_axes=axes, activation=activation(draw))
    return Call(made, [numbers(draw, shape)], fixed=True)


@recipe("Embedding ReversibleEmbedding")
def embedding(draw: Draw, name: str) -> Call:
    """Rows of a table."""
    rows = draw.integer(2, 9)
    made = getattr(layers, name)(rows, draw.integer(1, 4))
    dtype = draw.one_of((np.int32, np.int64, np.float32))
    if name == "ReversibleEmbedding" and draw.chance(0.5):
        made = layers.ReversibleEmbedding(rows, 3, logit_soft_cap=draw.one_of((None, 2.0)))
        return Call(made, [numbers(draw, [2, 4, 3])], {"reverse": True})
    return Call(made, [draw.between(dtype, draw.filled(1, 3), 0, rows - 1)])


@recipe("LayerScale Identity ActivityRegularization Dropout GaussianDropout GaussianNoise AlphaDropout SpatialDropout1D Masking")
def kept(draw: Draw, name: str) -> Call:
    """A layer that training alone has, or that has no effect on its own."""
    options: dict[str, Any] = {"GaussianNoise": {"stddev": 0.5}, "Identity": {}, "Masking": {"mask_value": 0.5}}.get(name, {"rate": 0.3})
    options = {"l1": 0.1} if name == "ActivityRegularization" else options
    rank = 3 if name in ("SpatialDropout1D", "Masking") else None
    shape = draw.filled(rank, rank) if rank else draw.filled(2, 4)
    data = np.where(draw.random.random(shape) < 0.4, np.float32(0.5), numbers(draw, shape)) if name == "Masking" else numbers(draw, shape)
    return Call(getattr(layers, name)(**options), [data])


@recipe("SpatialDropout2D SpatialDropout3D")
def dropped_channels(draw: Draw, name: str) -> Call:
    """Dropout of channels."""
    return Call(getattr(layers, name)(0.4), [numbers(draw, draw.integers(4 if "2D" in name else 5, 1, 4))])
