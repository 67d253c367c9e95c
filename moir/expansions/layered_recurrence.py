"""Stacked RNNs of several layers and directions, whose weights are one vector, as cuDNN has them.

The vector has, for each layer and each direction, the weights of the input [G · H, I] and of the hidden state [G · H,
H]; after the matrices of all layers come the biases [G · H], two for each direction. In shapes: L layers, D directions,
G gates, T time, N batch, I input, H hidden size.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from moir.rewriting.builder import OpBuilder


class Mode(NamedTuple):
    """A kind of cell, by the opset operation that computes it.

    Args:
        operation: the sequence operation, such as `LSTMSequence`.
        order: for each gate of the operation, in order, its index among cuDNN's gates.
        activations: activations of the operation; empty for its defaults.
    """

    operation: str
    order: tuple[int, ...]
    activations: tuple[str, ...] = ()

    @property
    def state_count(self) -> int:
        """The number of states: the hidden state, and for an LSTM the cell state."""
        return 2 if self.operation == "LSTMSequence" else 1


MODES = {
    # cuDNN's gates are i, f, g, o; those of the operation f, i, c, o.
    "lstm": Mode("LSTMSequence", (1, 0, 2, 3)),
    # cuDNN's are reset, update, new; those of the operation update, reset, hidden.
    "gru": Mode("GRUSequence", (1, 0, 2)),
    "rnn_tanh": Mode("RNNSequence", (0,), ("tanh",)),
    "rnn_relu": Mode("RNNSequence", (0,), ("relu",)),
}


class Direction(NamedTuple):
    """The weights of one direction of a layer: of the input [G · H, I], of the hidden state [G · H, H], and two biases
    [G · H].
    """

    weights: SSAValue
    recurrent: SSAValue
    bias: SSAValue
    recurrent_bias: SSAValue


class StackedRNN(NamedTuple):
    """The sizes of a stacked RNN.

    Args:
        mode: the kind of cell.
        layers: the number of layers.
        directions: 1 or 2.
        width: the size I of an input.
        size: the size H of a hidden state.
    """

    mode: Mode
    layers: int
    directions: int
    width: int
    size: int

    @property
    def weight_count(self) -> int:
        """The length of the vector of weights."""
        widths = [self.width, *[self.directions * self.size] * (self.layers - 1)]
        rows = self.directions * len(self.mode.order) * self.size
        return sum(rows * (width + self.size + 2) for width in widths)


def computed(
    op: OpBuilder,
    stacked: StackedRNN,
    x: SSAValue,
    states: Sequence[SSAValue],
    lengths: SSAValue,
    parameters: SSAValue,
) -> tuple[SSAValue, list[SSAValue]]:
    """Build a stacked RNN: returns the output [N, T, D · H] of the last layer, and the final states [L · D, N, H].

    Args:
        op: the builder.
        stacked: its sizes.
        x: the input [N, T, I].
        states: the initial states [L · D, N, H].
        lengths: the lengths of the sequences [N].
        parameters: the vector of weights.
    """
    return over_layers(op, stacked, x, states, lengths, _weights(op, parameters, stacked))


def over_layers(
    op: OpBuilder,
    stacked: StackedRNN,
    x: SSAValue,
    states: Sequence[SSAValue],
    lengths: SSAValue,
    layers: Sequence[Sequence[Direction]],
) -> tuple[SSAValue, list[SSAValue]]:
    """As `computed`, with the weights given for each direction of each layer, not as one vector."""
    directions, ends = stacked.directions, [list[SSAValue]() for _ in states]
    for layer, weights in enumerate(layers):
        first = layer * directions
        begins = [op.transposed(op.Slice(state, [first], [first + directions], [1], [0]), [1, 0, 2]) for state in states]
        output, *after = _sequence(op, stacked.mode, x, begins, lengths, weights, stacked.size)
        # [N, D, T, H] -> [N, T, D · H]
        x = op.Reshape(op.transposed(output, [0, 2, 1, 3]), [0, 0, directions * stacked.size], special_zero=True)
        for collected, state in zip(ends, after, strict=True):
            collected.append(op.transposed(state, [1, 0, 2]))
    return x, [op.Concat(*each, axis=0) if stacked.layers > 1 else each[0] for each in ends]


def _weights(op: OpBuilder, parameters: SSAValue, stacked: StackedRNN) -> list[list[Direction]]:
    """The weights of each direction of each layer, cut out of the vector `parameters`."""
    mode, layers, directions, width, size = stacked
    rows = len(mode.order) * size
    position = 0

    def take(*shape: int) -> SSAValue:
        nonlocal position
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        part = op.Slice(parameters, [position], [position + count], [1], [0])
        position += count
        return op.Reshape(part, list(shape), special_zero=False) if len(shape) > 1 else part

    inputs = [width, *[directions * size] * (layers - 1)]
    matrices = [[(take(rows, inputs[layer]), take(rows, size)) for _ in range(directions)] for layer in range(layers)]
    biases = [[(take(rows), take(rows)) for _ in range(directions)] for _ in range(layers)]
    return [[Direction(*pair, *bias) for pair, bias in zip(matrices[layer], biases[layer], strict=True)] for layer in range(layers)]


def _reordered(op: OpBuilder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """A value with its gates, which are equal parts along axis 0, in another order.

    `order` has, for each gate of the result, its index in the value.
    """
    if len(order) == 1:
        return value
    parts = op.Split.parts(len(order), value, op.constant(0), num_splits=len(order))
    return op.Concat(*(parts[index] for index in order), axis=0)


def _bias(op: OpBuilder, mode: Mode, weights: Direction) -> SSAValue:
    """The bias operand of a sequence operation: the sum of the input's and the hidden state's bias.

    For GRU, the hidden state's bias of the new gate is kept separate.
    """
    own, recurrent = (_reordered(op, value, mode.order) for value in (weights.bias, weights.recurrent_bias))
    if mode.operation != "GRUSequence":
        return op.Add(own, recurrent)
    parts = op.Split.parts(3, own, op.constant(0), num_splits=3)
    others = op.Split.parts(3, recurrent, op.constant(0), num_splits=3)
    return op.Concat(op.Add(parts[0], others[0]), op.Add(parts[1], others[1]), parts[2], others[2], axis=0)


def _sequence(
    op: OpBuilder, mode: Mode, x: SSAValue, states: Sequence[SSAValue], lengths: SSAValue, weights: Sequence[Direction], size: int
) -> tuple[SSAValue, ...]:
    """The sequence operation of a layer, with its weights for one or two directions and hidden size `size`.

    Returns its output [N, D, T, H] and states [N, D, H].
    """

    def joined(values: Sequence[SSAValue]) -> SSAValue:
        unsqueezed = [op.Unsqueeze(value, [0]) for value in values]
        return op.Concat(*unsqueezed, axis=0) if len(unsqueezed) > 1 else unsqueezed[0]

    properties: dict[str, object] = {"hidden_size": size}
    if mode.activations:
        properties["activations"] = list(mode.activations)
    if mode.operation == "GRUSequence":
        properties["linear_before_reset"] = True
    return op[f"opset5.{mode.operation}"].results(
        x,
        *states,
        lengths,
        *(joined(list(values)) for values in zip(*(_arranged(op, mode, each) for each in weights), strict=True)),
        direction="bidirectional" if len(weights) == 2 else "forward",
        **properties,
    )


def _arranged(op: OpBuilder, mode: Mode, weights: Direction) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The input weights, recurrent weights and bias of a direction, with the gates in the order of the operation."""
    return (
        _reordered(op, weights.weights, mode.order),
        _reordered(op, weights.recurrent, mode.order),
        _bias(op, mode, weights),
    )
