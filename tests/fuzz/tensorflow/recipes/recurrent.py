"""Recurrent cells and sequences of TensorFlow, drawn."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import tensorflow as tf

from tests.fuzz.draw import Array, Draw
from tests.fuzz.tensorflow.recipe import Node, recipe

WEIGHTS = ("w", "b", "wci", "wcf", "wco")


def cell(draw: Draw, dtype: np.dtype[Any]) -> tuple[dict[str, Array], int, int]:
    """Operands of a cell but its input, the batch and the size of the input."""
    batch, inputs, size = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 4)
    shapes = {
        "cs_prev": [batch, size],
        "h_prev": [batch, size],
        "w": [inputs + size, 4 * size],
        "wci": [size],
        "wcf": [size],
        "wco": [size],
        "b": [4 * size],
    }
    return {name: draw.array(dtype, shape, special=0.0) / dtype.type(4) for name, shape in shapes.items()}, batch, inputs


@recipe("LSTMBlockCell")
def lstm_cell(draw: Draw, dtype: np.dtype[Any]) -> Node:
    operands, batch, inputs = cell(draw, dtype)
    attributes = {"use_peephole": draw.chance(0.4), "cell_clip": draw.one_of((-1.0, 3.0, 0.5)), "forget_bias": draw.one_of((0.0, 1.0))}
    return Node({"x": draw.array(dtype, [batch, inputs], special=0.0), **operands}, attributes, WEIGHTS, fixed=WEIGHTS)


def lstm(draw: Draw, dtype: np.dtype[Any], kind: str) -> Node:
    """Beyond the length the states are zeros, and what the gates are is not defined."""
    operands, batch, inputs = cell(draw, dtype)
    steps = draw.integer(1, 5)
    length = np.array(draw.integer(0, steps) if draw.chance(0.3) else steps, np.int64)
    data = draw.array(dtype, [steps, batch, inputs], special=0.0)
    attributes = {"use_peephole": draw.chance(0.4), "cell_clip": draw.one_of((-1.0, 3.0, 0.5))}
    structural = ("seq_len_max", *WEIGHTS)
    shorter = length < steps

    def states(**operands: Any) -> Any:
        result = getattr(tf.raw_ops, kind)(**operands)
        return [result[1], result[6]] if shorter else result

    return Node({"seq_len_max": length, "x": data, **operands}, attributes, structural, None, states, fixed=WEIGHTS)


for version in ("BlockLSTM", "BlockLSTMV2"):
    recipe(version)(partial(lstm, kind=version))


@recipe("GRUBlockCell")
def gru_cell(draw: Draw, dtype: np.dtype[Any]) -> Node:
    batch, inputs, size = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 4)
    shapes = {
        "x": [batch, inputs],
        "h_prev": [batch, size],
        "w_ru": [inputs + size, 2 * size],
        "w_c": [inputs + size, size],
        "b_ru": [2 * size],
        "b_c": [size],
    }
    operands = {name: draw.array(dtype, shape, special=0.0) / dtype.type(2) for name, shape in shapes.items()}
    return Node(operands, {}, ("w_ru", "w_c", "b_ru", "b_c"), fixed=("w_ru", "w_c", "b_ru", "b_c"))
