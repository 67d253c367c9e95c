"""Recurrent networks over sequences: RNN, GRU, LSTM.

A network becomes the operation of the runtime where that computes it, otherwise a loop over its steps.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import SSAValue

from moir.lowering.onnx.recurrent.network import GRU, LSTM, RNN, Activation, Network
from moir.lowering.onnx.recurrent.steps import decomposed
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement

ACTIVATIONS = frozenset(("relu", "tanh", "sigmoid"))
"""Activations of the runtime. HardSigmoid is in the IR, but not in the CPU plugin."""


def is_expressible(network: Network) -> bool:
    """Whether the operation of the runtime computes a network."""
    names = {activation.name for activations in network.activations for activation in activations}
    return names <= ACTIVATIONS and not network.input_forget and not network.has_peepholes


def properties(network: Network, activations: Sequence[Activation], direction: str) -> dict[str, Any]:
    """The properties of the sequence operation for one direction."""
    found: dict[str, Any] = {
        "direction": direction,
        "hidden_size": network.hidden_size,
        "activations": [activation.name for activation in activations],
        "clip": network.clip,
    }
    if network.kind is GRU:
        found["linear_before_reset"] = network.linear_before_reset
    return found


def sequence(network: Network) -> tuple[SSAValue, ...]:
    """The results of the operation of the runtime: [N, D, T, H], then each state [N, D, H]."""
    states = [network.state(index) for index in range(5, 5 + network.kind.states)]
    operands = [network.data(), *states, network.lengths(), network.weights(1), network.weights(2), network.bias()]
    if network.directions == 1 or network.activations[0] == network.activations[1]:
        return _sequence(network, operands, network.activations[0], network.direction)
    found: list[tuple[SSAValue, ...]] = []
    lengths = 1 + network.kind.states
    for number, direction in enumerate(("forward", "reverse")):
        parts = [
            value if index in (0, lengths) else network.op.Gather(value, [number], 1 if index < lengths else 0)
            for index, value in enumerate(operands)
        ]
        found.append(_sequence(network, parts, network.activations[number], direction))
    return tuple(network.op.Concat(*pair, axis=1) for pair in zip(*found, strict=True))


def _sequence(network: Network, operands: Sequence[SSAValue], activations: Sequence[Activation], direction: str) -> tuple[SSAValue, ...]:
    build = getattr(network.op, f"{network.kind.name}Sequence")
    return build.parts(1 + network.kind.states, *operands, **properties(network, activations, direction))


def lowered(network: Network) -> Replacement:
    """The results of the node: all hidden states, then each state after the last step."""
    if not is_expressible(network):
        return decomposed(network)
    every, *last = sequence(network)
    order = [0, 2, 1, 3] if network.batch_first else [2, 1, 0, 3]
    values: list[SSAValue | None] = [network.op.Transpose(every, order) if network.node.is_used(0) else None]
    for index, value in enumerate(last, 1):
        used = network.node.is_used(index)
        values.append(None if not used else value if network.batch_first else network.op.Transpose(value, [1, 0, 2]))
    return values[: network.node.result_count]


onnx.lowers_each_node(
    {
        # onnx.RNN(x, w, r, b, lengths, h) -> Transpose(opset5.RNNSequence(x as [N, T, I], h as [N, D, H], lengths, w,
        # r, b summed))
        "RNN": lambda node, op: lowered(Network(node, op, RNN)),
        # onnx.GRU(x, w, r, b, lengths, h) -> Transpose(opset5.GRUSequence(x as [N, T, I], h as [N, D, H], lengths, w,
        # r, b summed))
        "GRU": lambda node, op: lowered(Network(node, op, GRU)),
        # onnx.LSTM(x, w, r, b, lengths, h, c) -> Transpose(opset5.LSTMSequence(x as [N, T, I], h, c as [N, D, H],
        # lengths, w, r, b))
        # The gates are i, o, f, c in ONNX and f, i, c, o in the runtime.
        "LSTM": lambda node, op: lowered(Network(node, op, LSTM)),
    }
)
