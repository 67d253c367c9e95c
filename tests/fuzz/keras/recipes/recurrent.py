"""Recurrent layers, with masks, given states, in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.fuzz.draw import Array, Draw
from tests.fuzz.keras.recipe import Call, each_axis, layers, numbers, rank_of, recipe

FUNCTIONS = ("tanh", "sigmoid", "relu", "elu", "softsign", "hard_sigmoid", "linear", "gelu")


def _activations(draw: Draw, name: str) -> dict[str, Any]:
    if draw.chance(0.6):
        return {}
    options = {"activation": draw.one_of(FUNCTIONS)}
    return (
        options if name.startswith("SimpleRNN") else {**options, "recurrent_activation": draw.one_of(("sigmoid", "hard_sigmoid", "tanh"))}
    )


def _cell_options(draw: Draw, name: str) -> dict[str, Any]:
    options = {"use_bias": draw.chance(0.8), **_activations(draw, name)}
    return {**options, "reset_after": draw.chance(0.6)} if name.startswith("GRU") else options


def _sequence_options(draw: Draw) -> dict[str, Any]:
    return {
        "return_sequences": draw.chance(0.5),
        "return_state": draw.chance(0.3),
        "go_backwards": draw.chance(0.3),
        "unroll": draw.chance(0.15),
    }


def _with_mask(draw: Draw, data: Array, keywords: dict[str, Any]) -> dict[str, Any]:
    """Now and then a mask of the steps."""
    if draw.chance(0.3):
        keywords["mask"] = draw.random.random(data.shape[:2]) < 0.7
    return keywords


def _state(draw: Draw, name: str, batch: int, units: int) -> list[Array]:
    return [numbers(draw, [batch, units]) for _ in range(2 if name == "LSTM" else 1)]


@recipe("LSTM GRU SimpleRNN")
def recurrent(draw: Draw, name: str) -> Call:
    """A recurrent layer."""
    units, data = draw.integer(1, 5), numbers(draw, [draw.integer(1, 3), draw.integer(1, 5), draw.integer(1, 4)])
    options = _sequence_options(draw)
    made = getattr(layers, name)(units, **_cell_options(draw, name), **options)
    keywords = _with_mask(draw, data, {})
    if draw.chance(0.25):
        keywords["initial_state"] = _state(draw, name, data.shape[0], units)
        _begin_unmasked(keywords)
    return Call(made, [data], keywords, fixed=options["unroll"])


def _begin_unmasked(keywords: dict[str, Any]) -> None:
    """Let no mask begin or end with masked steps: their outputs are zeros, or with JAX and numpy the given state."""
    if "mask" in keywords:
        keywords["mask"][:, [0, -1]] = True


@recipe("RNN")
def of_cells(draw: Draw, _: str) -> Call:
    """A layer of a cell, or of several stacked ones."""
    data = numbers(draw, [draw.integer(1, 3), draw.integer(1, 5), draw.integer(1, 4)])
    kinds = [draw.one_of(("LSTM", "GRU", "SimpleRNN")) for _ in range(draw.one_of((1, 1, 2, 3)))]
    cells = [getattr(layers, f"{kind}Cell")(draw.integer(1, 4), **_cell_options(draw, kind)) for kind in kinds]
    options = _sequence_options(draw)
    made = layers.RNN(cells[0] if len(cells) == 1 else cells, zero_output_for_mask=draw.chance(0.3), **options)
    return Call(made, [data], _with_mask(draw, data, {}), fixed=options["unroll"])


@recipe("Bidirectional")
def bidirectional(draw: Draw, _: str) -> Call:
    """A recurrent layer in both directions, the backward one perhaps another layer."""
    kind, units = draw.one_of(("LSTM", "GRU", "SimpleRNN")), draw.integer(1, 4)
    data = numbers(draw, [draw.integer(1, 3), draw.integer(1, 5), draw.integer(1, 4)])
    options = {**_cell_options(draw, kind), "return_sequences": draw.chance(0.6), "return_state": draw.chance(0.25)}
    backward = None
    if draw.chance(0.25):
        backward = getattr(layers, kind)(units, **options, go_backwards=True)
    made = layers.Bidirectional(
        getattr(layers, kind)(units, **options),
        merge_mode=draw.one_of(("concat", "concat", "sum", "mul", "ave", None)),
        backward_layer=backward,
    )
    keywords = _with_mask(draw, data, {})
    if draw.chance(0.2):
        keywords["initial_state"] = [*_state(draw, kind, data.shape[0], units), *_state(draw, kind, data.shape[0], units)]
        _begin_unmasked(keywords)
    return Call(made, [data], keywords)


@recipe("ConvLSTM1D ConvLSTM2D ConvLSTM3D")
def convolutional(draw: Draw, name: str) -> Call:
    """A recurrent layer whose products are convolutions."""
    rank, form = rank_of(name), draw.one_of((None, "channels_last", "channels_first"))
    sizes, channels = draw.integers(rank, 3, 5), draw.integer(1, 2)
    shape = [1, draw.integer(1, 3), *([channels, *sizes] if form == "channels_first" else [*sizes, channels])]
    made = getattr(layers, name)(
        draw.integer(1, 3),
        each_axis(draw, rank, 1, 3),
        padding=draw.one_of(("valid", "same")),
        strides=draw.one_of((1, 1, 2)),
        data_format=form,
        use_bias=draw.chance(0.8),
        return_sequences=draw.chance(0.5),
        return_state=draw.chance(0.3),
        go_backwards=draw.chance(0.3),
        **_activations(draw, name),
    )
    data = numbers(draw, shape)
    return Call(made, [data], _with_mask(draw, data, {}), fixed=True)


@recipe("TimeDistributed")
def distributed(draw: Draw, _: str) -> Call:
    """A layer for each step."""
    batch, steps = draw.integer(1, 3), draw.integer(1, 4)
    match draw.one_of(("Dense", "Conv2D", "LSTM", "LayerNormalization", "Flatten", "MaxPooling1D", "Embedding")):
        case "Dense":
            return Call(layers.TimeDistributed(layers.Dense(3, activation="relu")), [numbers(draw, [batch, steps, 4])])
        case "Conv2D":
            return Call(layers.TimeDistributed(layers.Conv2D(2, 2, padding="same")), [numbers(draw, [batch, steps, 4, 5, 2])])
        case "LSTM":
            made = layers.TimeDistributed(layers.LSTM(3, return_sequences=draw.chance(0.5)))
            return Call(made, [numbers(draw, [batch, steps, 3, 4])])
        case "LayerNormalization":
            return Call(layers.TimeDistributed(layers.LayerNormalization()), [numbers(draw, [batch, steps, 4])])
        case "Flatten":
            return Call(layers.TimeDistributed(layers.Flatten()), [numbers(draw, [batch, steps, 3, 2])])
        case "Embedding":
            return Call(layers.TimeDistributed(layers.Embedding(7, 3)), [draw.between(np.int32, [batch, steps, 3], 0, 6)])
        case _:
            return Call(layers.TimeDistributed(layers.MaxPooling1D(2)), [numbers(draw, [batch, steps, 5, 2])])
