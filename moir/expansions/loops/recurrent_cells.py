"""A step of an RNN layer by operations for each gate, for cells that the operation sets do not have.

In shapes: N batch, H hidden size, G gates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


class Activation(NamedTuple):
    """An activation function by the name that ONNX gives it, with its parameters alpha and beta."""

    name: str
    alpha: float = 0.0
    beta: float = 0.0


def _affine(op: OpBuilder, x: SSAValue, alpha: float, beta: float) -> SSAValue:
    return op.Add(op.Multiply(x, alpha), beta)


def _leaky(op: OpBuilder, x: SSAValue, alpha: float) -> SSAValue:
    return op.Select(op.Less(x, 0.0), op.Multiply(x, alpha), x)


FUNCTIONS: Mapping[str, Callable[[OpBuilder, SSAValue, float, float], SSAValue]] = {
    "affine": _affine,
    "elu": lambda op, x, alpha, _: op.Select(op.Less(x, 0.0), op.Multiply(op.Subtract(op.Exp(x), 1.0), alpha), x),
    "hardsigmoid": lambda op, x, alpha, beta: op.Minimum(op.Maximum(_affine(op, x, alpha, beta), 0.0), 1.0),
    "leakyrelu": lambda op, x, alpha, _: _leaky(op, x, alpha),
    "relu": lambda op, x, _, __: op.Relu(x),
    "scaledtanh": lambda op, x, alpha, beta: op.Multiply(op.Tanh(op.Multiply(x, beta)), alpha),
    "sigmoid": lambda op, x, _, __: op.Sigmoid(x),
    "softplus": lambda op, x, _, __: op.SoftPlus(x),
    "softsign": lambda op, x, _, __: op.SoftSign(x),
    "tanh": lambda op, x, _, __: op.Tanh(x),
    "thresholdedrelu": lambda op, x, alpha, _: op.Select(op.Less(alpha, x), x, op.constant_like(0.0, x)),
}
"""The activations, with their parameters alpha and beta."""


@dataclass(frozen=True)
class RecurrentCell:
    """One step of an RNN layer in one direction.

    Args:
        op: the builder.
        kind: "RNN", "GRU" or "LSTM".
        hidden_size: the size of a state.
        activations: the activations.
        weights: the weights of the recurrence [G * H, H]; the gates of a GRU are z, r, h.
        gates: the gates of an LSTM in the order of the rows of the weights, "iofc" in any order.
        clip: the limit of the arguments of activations; 0 if there is none.
        linear_before_reset: whether a GRU multiplies the reset gate with the product of the state.
        last_bias: the bias [H] of that product; None without one.
        peepholes: the weights [3 * H] of the cell state in the gates i, o, f of an LSTM; None without them.
        input_forget: whether the forget gate of an LSTM is 1 minus the input gate.
    """

    op: OpBuilder
    kind: str
    hidden_size: int
    activations: Sequence[Activation]
    weights: SSAValue
    gates: str = "fico"
    clip: float = 0.0
    linear_before_reset: bool = False
    last_bias: SSAValue | None = None
    peepholes: SSAValue | None = None
    input_forget: bool = False

    def step(self, states: Sequence[SSAValue], x: SSAValue) -> Sequence[SSAValue]:
        """The next states [N, H] from the present ones and from the contribution of the input to the gates [N,
        G * H], which has all biases but `last_bias`.
        """
        if self.kind == "LSTM":
            return self._lstm(states[0], states[1], x)
        return [self._gru(states[0], x) if self.kind == "GRU" else self._rnn(states[0], x)]

    def _activated(self, index: int, x: SSAValue) -> SSAValue:
        """Activation `index` of the cell applied to x, which is clipped first if the cell has a `clip`."""
        activation, limit = self.activations[index], self.clip
        if limit > 0:
            x = self.op.Clamp(x, min=-limit, max=limit)
        return FUNCTIONS[activation.name](self.op, x, activation.alpha, activation.beta)

    def _product(self, x: SSAValue, weights: SSAValue) -> SSAValue:
        """The product x · weightsᵀ of states [N, H] and weights [K, H]: [N, K]."""
        return self.op.MatMul(x, weights, transpose_b=True)

    def _split(self, x: SSAValue, axis: int, *sizes: int) -> tuple[SSAValue, ...]:
        """Split x along an axis into parts; `sizes` are their sizes in multiples of the hidden size."""
        return self.op.VariadicSplit.parts(len(sizes), x, axis, [size * self.hidden_size for size in sizes])

    def _rnn(self, h: SSAValue, x: SSAValue) -> SSAValue:
        return self._activated(0, self.op.Add(self._product(h, self.weights), x))

    def _gru(self, h: SSAValue, x: SSAValue) -> SSAValue:
        op = self.op
        first, last = self._split(self.weights, 0, 2, 1)
        inputs, candidate = self._split(x, 1, 2, 1)
        update, reset = self._split(self._activated(0, op.Add(self._product(h, first), inputs)), 1, 1, 1)
        if self.linear_before_reset:
            own = self._product(h, last)
            own = op.Multiply(op.Add(own, self.last_bias) if self.last_bias is not None else own, reset)
        else:
            own = self._product(op.Multiply(h, reset), last)
        new = self._activated(1, op.Add(own, candidate))
        return op.Add(op.Multiply(op.Subtract(1.0, update), new), op.Multiply(update, h))

    def _lstm(self, h: SSAValue, c: SSAValue, x: SSAValue) -> Sequence[SSAValue]:
        op = self.op
        parts = self._split(op.Add(self._product(h, self.weights), x), 1, 1, 1, 1, 1)
        enter, leave, forget, new = (parts[self.gates.index(gate)] for gate in "iofc")
        peepholes = self._split(self.peepholes, 0, 1, 1, 1) if self.peepholes is not None else None
        if peepholes is not None:
            enter = op.Add(enter, op.Multiply(c, peepholes[0]))
            forget = op.Add(forget, op.Multiply(c, peepholes[2]))
        enter = self._activated(0, enter)
        forget = op.Subtract(1.0, enter) if self.input_forget else self._activated(0, forget)
        c = op.Add(op.Multiply(forget, c), op.Multiply(enter, self._activated(1, new)))
        if peepholes is not None:
            leave = op.Add(leave, op.Multiply(c, peepholes[1]))
        # The argument of the last activation is not clipped.
        last = self.activations[2]
        return [op.Multiply(self._activated(0, leave), FUNCTIONS[last.name](op, c, last.alpha, last.beta)), c]
