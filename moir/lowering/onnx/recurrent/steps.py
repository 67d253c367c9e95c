"""Recurrent networks as loops over their steps, for networks that the operations of the runtime do not compute.

    %y, %h = onnx.RNN(%x, %w, %r, %b) {activations = ["Softsign"]}
->  %0 = Add(MatMul(%x, %w), %b)
    %y, %h = opset1.TensorIterator(%0, %h0) ({ h = Softsign(Add(MatMul(h, %r), slice of %0)) })

Everything that does not depend on the states is computed for all steps before the loop. After the end of its sequence
a row keeps its states, and its outputs are 0. In the backward direction it begins with the last step of its sequence.

In shapes: T time, N batch, D directions, I input, H hidden size, G gates.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import si32
from moir.dialects.moir import Slicing
from moir.dialects.shapes import element_of, rank_of, shape_of, size_along
from moir.expansions.loops.built_loops import Cut, Step, repeated_steps
from moir.lowering.onnx.recurrent.network import GRU, LSTM, Activation, Network
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder


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
class Cell:
    """One step of a network in one direction, in a body.

    Args:
        network: the network.
        op: the builder of the body.
        activations: the activations of the direction.
        weights: the weights of the recurrence [G * H, H], then the bias of the last gate's recurrence of a GRU with
            `linear_before_reset`, and peepholes [3 * H]; the latter two only if the network has them.
    """

    network: Network
    op: OpBuilder
    activations: Sequence[Activation]
    weights: Sequence[SSAValue]

    def activated(self, index: int, x: SSAValue) -> SSAValue:
        """The result of an activation, whose argument is clipped first."""
        activation, limit = self.activations[index], self.network.clip
        if limit > 0:
            x = self.op.Clamp(x, min=-limit, max=limit)
        return FUNCTIONS[activation.name](self.op, x, activation.alpha, activation.beta)

    def product(self, x: SSAValue, weights: SSAValue) -> SSAValue:
        """The product of states [N, H] and weights [K, H]: [N, K]."""
        return self.op.MatMul(x, weights, transpose_b=True)

    def split(self, x: SSAValue, axis: int, *sizes: int) -> tuple[SSAValue, ...]:
        """Parts of a value along an axis, with sizes that are multiples of the hidden size."""
        hidden = self.network.hidden_size
        return self.op.VariadicSplit.parts(len(sizes), x, axis, [size * hidden for size in sizes])

    def step(self, states: Sequence[SSAValue], x: SSAValue) -> Sequence[SSAValue]:
        """The next states [N, H] from the present ones and from the contribution of the input to the gates [N,
        G * H].
        """
        if self.network.kind is LSTM:
            return self._lstm(states[0], states[1], x)
        return [self._gru(states[0], x) if self.network.kind is GRU else self._rnn(states[0], x)]

    def _rnn(self, h: SSAValue, x: SSAValue) -> SSAValue:
        return self.activated(0, self.op.Add(self.product(h, self.weights[0]), x))

    def _gru(self, h: SSAValue, x: SSAValue) -> SSAValue:
        op = self.op
        first, last = self.split(self.weights[0], 0, 2, 1)
        inputs, candidate = self.split(x, 1, 2, 1)
        update, reset = self.split(self.activated(0, op.Add(self.product(h, first), inputs)), 1, 1, 1)
        if self.network.linear_before_reset:
            own = self.product(h, last)
            own = op.Multiply(op.Add(own, self.weights[1]) if len(self.weights) > 1 else own, reset)
        else:
            own = self.product(op.Multiply(h, reset), last)
        new = self.activated(1, op.Add(own, candidate))
        return op.Add(op.Multiply(op.Subtract(1.0, update), new), op.Multiply(update, h))

    def _lstm(self, h: SSAValue, c: SSAValue, x: SSAValue) -> Sequence[SSAValue]:
        op = self.op
        enter, leave, forget, new = self.split(op.Add(self.product(h, self.weights[0]), x), 1, 1, 1, 1, 1)
        peepholes = self.split(self.weights[1], 0, 1, 1, 1) if len(self.weights) > 1 else None
        if peepholes is not None:
            enter = op.Add(enter, op.Multiply(c, peepholes[0]))
            forget = op.Add(forget, op.Multiply(c, peepholes[2]))
        enter = self.activated(0, enter)
        forget = op.Subtract(1.0, enter) if self.network.input_forget else self.activated(0, forget)
        c = op.Add(op.Multiply(forget, c), op.Multiply(enter, self.activated(1, new)))
        if peepholes is not None:
            leave = op.Add(leave, op.Multiply(c, peepholes[1]))
        # The argument of the last activation is not clipped.
        last = self.activations[2]
        return [op.Multiply(self.activated(0, leave), FUNCTIONS[last.name](op, c, last.alpha, last.beta)), c]


def decomposed(network: Network) -> Replacement:
    """The results of the node: all hidden states, then each state after the last step."""
    found = [_direction(network, number) for number in range(network.directions)]
    op, lead = network.op, 1 if network.batch_first else 0
    axes = [2 if network.batch_first else 1, *[lead] * network.kind.states]
    results: list[SSAValue | None] = []
    for index, (axis, parts) in enumerate(zip(axes, zip(*found, strict=True), strict=True)):
        if not network.node.is_used(index):
            results.append(None)
            continue
        separate = [op.Unsqueeze(part, [axis]) for part in parts]
        results.append(separate[0] if len(separate) == 1 else op.Concat(*separate, axis=axis))
    return results[: network.node.result_count]


def _of_direction(network: Network, index: int, number: int, sizes: Sequence[int]) -> SSAValue:
    """The entry of an operand for a direction, reshaped to sizes unless it is a constant."""
    array = network.node.constant(index)
    if array is not None:
        return network.op.constant(array[number], element_of(network.node.operand(index)))
    # All directions are reshaped at once: `Model.reshape` gives unknown sizes to a Reshape right before a MatMul.
    value = network.op.Reshape(network.node.operand(index), [network.directions, *sizes], special_zero=False)
    return network.op.Gather(value, number, 0)


def _direction(network: Network, number: int) -> list[SSAValue]:
    """All hidden states [T, N, H] of a direction, or [N, T, H], then each state [N, H] after the last step."""
    op, time, backwards = network.op, network.time_axis, network.direction == "reverse" or number == 1
    inputs, weights = _inputs(network, number)
    forwards = Slicing(0, -1, 0, -1) if backwards else Slicing(0)
    cuts = [Cut(inputs, forwards.with_fields(axis=time))]
    if network.has_peepholes:
        weights.append(_of_direction(network, 7, number, [3 * network.hidden_size]))
    count = len(weights)
    lengths = network.node.optional(4)
    if lengths is not None:
        weights.append(op.Unsqueeze(op.convert(lengths, si32), [1]))
        limit = op.convert(op.Gather(op.ShapeOf(network.node.operand(0)), time, 0), si32)
        numbers = op.Range(np.array(0, np.int32), limit, np.array(1, np.int32), output_type=si32)
        cuts.append(Cut(op.Unsqueeze(numbers, [1]), forwards))

    def body(inside: OpBuilder, states: list[SSAValue], slices: list[SSAValue], fixed: list[SSAValue]) -> Step:
        cell = Cell(network, inside, network.activations[number], fixed[:count])
        following = list(cell.step(states, inside.Squeeze(slices[0], [time])))
        shown = following[0]
        if lengths is not None:
            runs = inside.Less(slices[1], fixed[count])
            following = [inside.Select(runs, new, old) for new, old in zip(following, states, strict=True)]
            shown = inside.Select(runs, shown, inside.constant_like(0.0, shown))
        return Step(following, [inside.Unsqueeze(shown, [time])])

    states = [op.Gather(network.state(index), number, 1) for index in range(5, 5 + network.kind.states)]
    if lengths is not None:
        # The states of a sequence without steps are 0, as in the operations of the runtime.
        states = [op.Select(op.Less(0, weights[count]), state, op.constant_like(0.0, state)) for state in states]
    *last, every = repeated_steps(op, body, states, cuts=cuts, invariants=weights, joins=[forwards.with_fields(axis=time)])
    return [every, *last]


def _inputs(network: Network, number: int) -> tuple[SSAValue, list[SSAValue]]:
    """The contributions of the inputs of all steps to the gates [T, N, G * H], and the weights of the recurrence.

    The biases are included, except the recurrence bias of the last gate of a GRU with `linear_before_reset`.
    """
    op, hidden = network.op, network.hidden_size
    rows = len(network.kind.gates) * hidden
    data = network.node.operand(0)
    if rank_of(data) is None:
        data = op.Reshape(data, [0, 0, -1], special_zero=True)
    columns = size_along(shape_of(data) or (-1,), -1)
    found = op.MatMul(data, _of_direction(network, 1, number, [rows, columns]), transpose_b=True)
    weights = [_of_direction(network, 2, number, [rows, hidden])]
    if network.node.optional(3) is None:
        return found, weights
    of_input, of_recurrence = op.Split.parts(2, _of_direction(network, 3, number, [2 * rows]), 0, num_splits=2)
    if network.linear_before_reset:
        gates, last = op.VariadicSplit.parts(2, of_recurrence, 0, [2 * hidden, hidden])
        zeros = op.filled_like((hidden,), 0.0, last)
        return op.Add(found, op.Add(of_input, op.Concat(gates, zeros, axis=0))), [*weights, last]
    return op.Add(found, op.Add(of_input, of_recurrence)), weights
