"""RNN layers over sequences: RNN, GRU, LSTM.

A layer becomes a sequence operation of opset5 if that can express it, otherwise a loop over its steps.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.dialects.opset.recurrent import ACTIVATIONS
from moir.expansions.loops.recurrent_cells import Activation
from moir.lowering.onnx.recurrent.layer import GRU, LSTM, RNN, RNNLayer
from moir.lowering.onnx.recurrent.steps import decomposed
from moir.lowering.onnx.table import onnx
from moir.lowering.ranks import fixed
from moir.lowering.table import Replacement


def is_expressible(layer: RNNLayer) -> bool:
    """Whether a sequence operation of opset5 can express a layer: it has the activations, and there are no coupled
    gates and no peepholes.
    """
    names = {activation.name for activations in layer.activations for activation in activations}
    return names <= {*ACTIVATIONS} and not layer.input_forget and not layer.has_peepholes


def properties(layer: RNNLayer, activations: Sequence[Activation], direction: str) -> dict[str, Any]:
    """The properties of the sequence operation for one direction."""
    attributes: dict[str, Any] = {
        "direction": direction,
        "hidden_size": layer.hidden_size,
        "activations": [activation.name for activation in activations],
        "clip": layer.clip,
    }
    if any(activation.name == "hardsigmoid" for activation in activations):
        attributes["activations_alpha"] = [activation.alpha for activation in activations]
        attributes["activations_beta"] = [activation.beta for activation in activations]
    if layer.kind is GRU:
        attributes["linear_before_reset"] = layer.linear_before_reset
    return attributes


def sequence(layer: RNNLayer) -> tuple[SSAValue, ...]:
    """Build the sequence operation of opset5; returns its results [N, D, T, H], then each state [N, D, H]."""
    states = [layer.state(index) for index in range(5, 5 + layer.kind.states)]
    operands = [layer.data(), *states, layer.lengths(), layer.weights(1), layer.weights(2), layer.bias()]
    if layer.directions == 1 or layer.activations[0] == layer.activations[1]:
        return _sequence(layer, operands, layer.activations[0], layer.direction)
    results: list[tuple[SSAValue, ...]] = []
    lengths = 1 + layer.kind.states
    for direction_index, direction in enumerate(("forward", "reverse")):
        parts = [
            value if index in (0, lengths) else layer.op.Gather(value, [direction_index], 1 if index < lengths else 0)
            for index, value in enumerate(operands)
        ]
        results.append(_sequence(layer, parts, layer.activations[direction_index], direction))
    return tuple(layer.op.Concat(*pair, axis=1) for pair in zip(*results, strict=True))


def _sequence(layer: RNNLayer, operands: Sequence[SSAValue], activations: Sequence[Activation], direction: str) -> tuple[SSAValue, ...]:
    build = getattr(layer.op, f"{layer.kind.name}Sequence")
    return build.parts(1 + layer.kind.states, *operands, **properties(layer, activations, direction))


def lowered(layer: RNNLayer) -> Replacement:
    """Lower a layer: returns all hidden states, then each state after the last step."""
    if not is_expressible(layer):
        return decomposed(layer)
    every, *last = sequence(layer)
    order = [0, 2, 1, 3] if layer.batch_first else [2, 1, 0, 3]
    values: list[SSAValue | None] = [layer.op.Transpose(every, order) if layer.node.is_used(0) else None]
    for index, value in enumerate(last, 1):
        used = layer.node.is_used(index)
        values.append(None if not used else value if layer.batch_first else layer.op.Transpose(value, [1, 0, 2]))
    return values[: layer.node.result_count]


onnx.lowers_each_node(
    {
        # onnx.RNN(x, w, r, b, lengths, h) -> Transpose(opset5.RNNSequence(x as [N, T, I], h as [N, D, H], lengths, w,
        # r, b summed))
        "RNN": lambda node, op: lowered(RNNLayer(node, op, RNN)),
        # onnx.GRU(x, w, r, b, lengths, h) -> Transpose(opset5.GRUSequence(x as [N, T, I], h as [N, D, H], lengths, w,
        # r, b summed))
        "GRU": lambda node, op: lowered(RNNLayer(node, op, GRU)),
        # onnx.LSTM(x, w, r, b, lengths, h, c) -> Transpose(opset5.LSTMSequence(x as [N, T, I], h, c as [N, D, H],
        # lengths, w, r, b))
        # The gates are i, o, f, c in ONNX and f, i, c, o in opset5.
        "LSTM": lambda node, op: lowered(RNNLayer(node, op, LSTM)),
    },
    rank=fixed(3, 3, 3, 2, 1, 3, 3),
)
