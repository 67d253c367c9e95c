"""Recurrent layers."""

from __future__ import annotations

from typing import Any

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Signature, Values, recipe

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
USUAL = {"RNN": ["Tanh"], "GRU": ["Sigmoid", "Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"]}
PLAIN = ("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus")
SCALED = ("Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu")


@recipe("RNN", "GRU", "LSTM")
def recurrent(draw: Draw, signature: Signature) -> Values:
    direction = draw.one_of(("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1
    gates, hidden = GATES[signature.name], draw.integer(1, 4)
    steps, batch, inputs = draw.integer(1, 4), draw.integer(1, 3), draw.integer(1, 4)
    layout = int(signature.takes("layout") and draw.chance(0.15))
    dtype = signature.dtype("X")
    values: dict[str, Any] = {"direction": direction, "hidden_size": hidden, "layout": layout}
    states = [batch, directions, hidden] if layout else [directions, batch, hidden]
    shapes = {
        "X": [batch, steps, inputs] if layout else [steps, batch, inputs],
        "W": [directions, gates * hidden, inputs],
        "R": [directions, gates * hidden, hidden],
        "B": [directions, 2 * gates * hidden],
        "initial_h": states,
        "initial_c": states,
    }
    values |= {name: draw.array(dtype, shape, special=0) * dtype.type(0.5) for name, shape in shapes.items()}
    values["sequence_lens"] = draw.between(signature.dtype("sequence_lens"), [batch], 1, steps) if draw.chance(0.4) else None
    values["P"] = draw.array(dtype, [directions, 3 * hidden], special=0) if draw.chance(0.3) else None
    values |= {
        "clip": draw.one_of((0.5, 2.0)) if draw.chance(0.2) else None,
        "input_forget": int(draw.chance(0.1)),
        "activation_alpha": None,
        "activation_beta": None,
        "activations": None,
    }
    if draw.chance(0.3):
        names = [draw.one_of(PLAIN) for _ in range(FUNCTIONS[signature.name] * directions)]
        if draw.chance(0.3):
            names = [draw.one_of(SCALED) for _ in names]
            values |= {"activation_alpha": [0.5] * len(names), "activation_beta": [0.4] * len(names)}
        values["activations"] = names
    elif draw.chance(0.2):
        values["activations"] = USUAL[signature.name] * directions
    return values
