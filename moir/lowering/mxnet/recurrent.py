"""The fused recurrent network, RNN: layers, directions, states.

Source: rnn-inl.h and rnn_impl.h of MXNet 1.9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import SSAValue

from moir.dialects.element_types import si64
from moir.dialects.shapes import shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.table import mxnet
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

MAXIMUM_LAYERS = 1000


class Mode(NamedTuple):
    """A kind of cell.

    Args:
        operation: the sequence operation.
        order: which gates of MXNet the operation's gates are, in its order.
        activations: activations of the operation; empty for its defaults.
    """

    operation: str
    order: tuple[int, ...]
    activations: tuple[str, ...] = ()


MODES = {
    # MXNet's gates are i, f, g, o; those of the operation f, i, c, o.
    "lstm": Mode("LSTMSequence", (1, 0, 2, 3)),
    # MXNet's are reset, update, new; those of the operation update, reset, hidden.
    "gru": Mode("GRUSequence", (1, 0, 2)),
    "rnn_tanh": Mode("RNNSequence", (0,), ("tanh",)),
    "rnn_relu": Mode("RNNSequence", (0,), ("relu",)),
}


class _Direction(NamedTuple):
    """The weights of one direction of a layer: [G · H, I], [G · H, H], and two biases [G · H]."""

    weights: SSAValue
    recurrent: SSAValue
    bias: SSAValue
    recurrent_bias: SSAValue


@mxnet.lowers("RNN", "_npx_rnn")
def rnn(
    node: LoweringNode,
    op: OpBuilder,
    *,
    use_sequence_length: bool = False,
    mode_: str,
    state_size: int,
    num_layers: int,
    bidirectional: bool = False,
) -> Replacement:
    """mxnet.RNN(x [T, N, I], parameters, states …) {mode, state_size, num_layers, bidirectional} -> a sequence a layer

    Results are [T, N, directions · H] and, with `state_outputs`, the states [layers · directions, N, H].
    """
    if mode_ not in MODES:
        node.fail(f"mode {mode_!r} does not exist")
    if node.has("projection_size"):
        node.fail("a projection of the hidden state is not supported")
    if node.has("lstm_state_clip_min") or node.has("lstm_state_clip_max"):
        node.fail("limits of the cell state are not supported")
    if not 1 <= num_layers <= MAXIMUM_LAYERS or state_size < 1:
        node.fail(f"{num_layers} layers of size {state_size}")
    mode, directions = MODES[mode_], 2 if bidirectional else 1
    x, parameters = node.operand(0), node.operand(1)
    width = (shape_of(x) or (-1,))[-1]
    if width < 0:
        node.fail("the number of features is unknown", hint="MXNet's files have no shapes of inputs; give them: --input NAME[5,1,16]")
    state_count = 2 if mode_ == "lstm" else 1
    batch_first = op.transposed(x, [1, 0, 2])
    sizes = op.ShapeOf(batch_first)
    batch, steps = op.Gather(sizes, [0], 0), op.Gather(sizes, [1], 0)
    full = op.Concat(op.constant([num_layers * directions]), batch, op.constant([state_size]), axis=0)
    # Zeros that begin a sequence may have a batch of 1.
    states = [op.Broadcast(node.operand(2 + index), full, mode="bidirectional") for index in range(state_count)]
    lengths = op.convert(node.operand(2 + state_count), si64) if use_sequence_length else op.Broadcast(steps, batch)
    ends: list[list[SSAValue]] = [[] for _ in states]
    value = batch_first
    for layer, weights in enumerate(_weights(op, parameters, len(mode.order), state_size, width, num_layers, directions)):
        first = layer * directions
        begins = [op.transposed(op.Slice(state, [first], [first + directions], [1], [0]), [1, 0, 2]) for state in states]
        output, *after = _sequence(op, mode, value, begins, lengths, weights, state_size)
        # [N, D, T, H] -> [N, T, D · H]
        value = op.Reshape(op.transposed(output, [0, 2, 1, 3]), [0, 0, directions * state_size], special_zero=True)
        for collected, state in zip(ends, after, strict=True):
            collected.append(op.transposed(state, [1, 0, 2]))
    finals = [op.Concat(*each, axis=0) if num_layers > 1 else each[0] for each in ends]
    return [op.transposed(value, [1, 0, 2]), *finals]


def _weights(
    op: OpBuilder, parameters: SSAValue, gates: int, size: int, width: int, layers: int, directions: int
) -> list[list[_Direction]]:
    """The weights of each layer: in the list of all parameters those of all layers are in front of all biases."""
    rows = gates * size
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
    return [[_Direction(*pair, *bias) for pair, bias in zip(matrices[layer], biases[layer], strict=True)] for layer in range(layers)]


def _reordered(op: OpBuilder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """Gates along axis 0 in another order."""
    if len(order) == 1:
        return value
    parts = op.Split.parts(len(order), value, op.constant(0), num_splits=len(order))
    return op.Concat(*(parts[index] for index in order), axis=0)


def _bias(op: OpBuilder, mode: Mode, weights: _Direction) -> SSAValue:
    """The bias of an operation: the sum of both, of GRU with that of the recurrent part of the new state by itself."""
    own, recurrent = (_reordered(op, value, mode.order) for value in (weights.bias, weights.recurrent_bias))
    if mode.operation != "GRUSequence":
        return op.Add(own, recurrent)
    parts = op.Split.parts(3, own, op.constant(0), num_splits=3)
    others = op.Split.parts(3, recurrent, op.constant(0), num_splits=3)
    return op.Concat(op.Add(parts[0], others[0]), op.Add(parts[1], others[1]), parts[2], others[2], axis=0)


def _sequence(
    op: OpBuilder, mode: Mode, x: SSAValue, states: Sequence[SSAValue], lengths: SSAValue, weights: Sequence[_Direction], size: int
) -> tuple[SSAValue, ...]:
    """The operation of a layer; returns its output [N, D, T, H] and states [N, D, H]."""

    def joined(values: Sequence[SSAValue]) -> SSAValue:
        unsqueezed = [op.Unsqueeze(value, [0]) for value in values]
        return op.Concat(*unsqueezed, axis=0) if len(unsqueezed) > 1 else unsqueezed[0]

    properties: dict[str, object] = {"hidden_size": size, "direction": "bidirectional" if len(weights) == 2 else "forward"}
    if mode.activations:
        properties["activations"] = list(mode.activations)
    if mode.operation == "GRUSequence":
        properties["linear_before_reset"] = True
    return op[f"opset5.{mode.operation}"].results(
        x,
        *states,
        lengths,
        joined([_reordered(op, each.weights, mode.order) for each in weights]),
        joined([_reordered(op, each.recurrent, mode.order) for each in weights]),
        joined([_bias(op, mode, each) for each in weights]),
        **properties,
    )
